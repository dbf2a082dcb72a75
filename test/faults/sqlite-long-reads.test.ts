/** Statements of minutes on a large SQLite file: they end in time, and other requests are answered meanwhile. */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";
import { fillLargeFile, largeFiles, worstJoin } from "./large-file.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

let database: FreshDatabase;
let service: ServiceProcess;

beforeAll(async () => {
  database = await freshDatabase("sqlite");
  fillLargeFile(database.url.slice("sqlite:".length), 200_000);
}, 60_000);

afterEach(async () => {
  await service?.stop();
});

afterAll(async () => {
  await database?.drop();
});

/** Longest accepted time for a request that a free thread answers at once: a busy machine pauses. */
const soonMs = 1_000;

const serve = async (more: Parameters<typeof largeFiles>[1] = {}): Promise<ServiceProcess> =>
  (service = await startService(largeFiles(database.url, more), { env: { TRUST_PROXY: "1" } }));

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; tookMs: number }> {
  const startedMs = performance.now();
  const result = await work();
  return { result, tookMs: performance.now() - startedMs };
}

/** Requests the health of the service until `work` ends; returns the longest time of an answer. */
async function healthDuring(work: Promise<unknown>): Promise<number> {
  let isOver = false;
  const over = () => void (isOver = true);
  work.then(over, over);
  let longestMs = 0;
  while (!isOver) {
    const { result, tookMs } = await timed(() => fetch(`${service.origin}/health/live`));
    expect(result.status).toBe(200);
    longestMs = Math.max(longestMs, tookMs);
    await wait(20);
  }
  return longestMs;
}

/** Processes that the service has started and that live, by their ids. */
function readersOf({ process: { pid } }: ServiceProcess): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((id) => {
      try {
        const [, state, parent] = /\) (\w) (\d+)/.exec(readFileSync(`/proc/${id}/stat`, "utf8"))!;
        return Number(parent) === pid && state !== "Z";
      } catch {
        return false;
      }
    });
}

/** Waits until that many live: a busy machine starts and ends a process in seconds, and a job's after all others. */
const readersAre = (count: number): Promise<void> =>
  expect.poll(() => readersOf(service), { timeout: 20_000 }).toHaveLength(count);

const isRunning = (id: number): boolean => {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${id}/stat`, "utf8"));
  } catch {
    return false;
  }
};

const unavailable = { status: 503, body: { error: "Service unavailable" } };

describe("a read of minutes", () => {
  test.each([
    ["a join on columns that are not unique", "facts/aggregate", worstJoin],
    ["a view of the operator's", "slow/read", { limit: 1, sort_columns: [{ column: "note" }] }],
    ["a page of it with its total", "slow/read", { page: 1, per_page: 5 }],
  ])(
    "%s ends at the time limit of statements, and others are answered meanwhile",
    async (_, path, body) => {
      const { post } = await serve({ database: { statementTimeoutMs: 1_000 } });
      const asked = timed(() => post(path, body));
      const health = healthDuring(asked);
      await wait(300);
      const first = await timed(() => post("facts/first", { where: { key: "id", value: 7 } }));
      expect(first.result.body).toMatchObject({ data: { id: 7, name: "Fact number 7" } });
      expect(first.tookMs).toBeLessThan(soonMs);
      const created = await timed(() => post("kinds/create", { label: "New" }));
      expect(created.result.status).toBe(201);
      expect(created.tookMs).toBeLessThan(soonMs);
      const { result, tookMs } = await asked;
      expect(result).toMatchObject(unavailable);
      expect(tookMs).toBeLessThan(12_000);
      expect(await health).toBeLessThan(soonMs);
    },
  );

  test("ends with the request's own deadline where statements have no limit", async () => {
    const { post } = await serve({ database: { statementTimeoutMs: 0 } });
    const asked = timed(() => post("facts/aggregate", worstJoin));
    const longestMs = await healthDuring(asked);
    const { result, tookMs } = await asked;
    expect(result).toMatchObject(unavailable);
    expect(tookMs).toBeLessThan(25_000);
    expect(longestMs).toBeLessThan(soonMs);
  });

  test("leaves nothing of it running, and the next one is read again", async () => {
    const { post } = await serve({ database: { statementTimeoutMs: 1_000 } });
    await post("facts/aggregate", worstJoin);
    await readersAre(0);
    const counted = await post("facts/aggregate", {
      operations: [{ function: "count", field: "*", alias: "all" }],
    });
    expect(counted.body).toMatchObject({ data: { all: 200_000 } });
    await readersAre(1);
  });

  test("ends with the service, after SIGTERM and after SIGKILL", async () => {
    for (const [signal, mostMs] of [
      ["SIGTERM", 10_000],
      ["SIGKILL", 2_000],
    ] as const) {
      const { post, process: child } = await serve();
      const asked = post("facts/aggregate", worstJoin).catch(() => null);
      await readersAre(1);
      const readers = readersOf(service);
      const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
      const startedMs = performance.now();
      child.kill(signal);
      await exited;
      while (readers.some(isRunning)) await wait(20);
      expect(performance.now() - startedMs).toBeLessThan(mostMs);
      await asked;
    }
  });

  test("of one caller leaves room for the long reads of others", async () => {
    const { post } = await serve({ database: { statementTimeoutMs: 8_000 } });
    const keyed = (address: string) => ({ "X-Forwarded-For": address });
    const greedy = Array.from({ length: 8 }, () =>
      post("facts/aggregate", worstJoin, keyed("10.0.0.1")),
    );
    // Awaited below: a failure before must not leave them without a handler.
    const ended = Promise.all(greedy);
    ended.catch(() => {});
    await wait(1_000);
    const max = post(
      "facts/aggregate",
      { operations: [{ function: "max", field: "amount" }] },
      keyed("10.0.0.2"),
    );
    // Not a number of seconds: the process that reads starts beside the greedy ones, on as few cores as they.
    expect(await Promise.race([max, ...greedy])).toMatchObject({
      body: { data: { max_amount: 1008 } },
    });
    for (const { status } of await ended) expect(status).toBe(503);
  });

  test("keeps no more than four processes, under the worst that many callers send", async () => {
    const { post } = await serve({ database: { statementTimeoutMs: 2_000 } });
    const all = Promise.all(
      Array.from({ length: 16 }, (_, at) =>
        post("facts/aggregate", worstJoin, { "X-Forwarded-For": `10.0.1.${at}` }),
      ),
    );
    const health = healthDuring(all);
    await readersAre(4);
    await wait(500);
    expect(readersOf(service).length).toBeLessThanOrEqual(4);
    for (const { status } of await all) expect(status).toBe(503);
    expect(await health).toBeLessThan(soonMs);
  });
});

describe("an export of minutes", () => {
  test("ends when it is cancelled, and with SIGTERM", async () => {
    const { post, process: child } = await serve();
    const started = async () => {
      const { body } = await post("slow/export", {});
      await readersAre(1);
      return body["job_id"] ?? (body["data"] as Record<string, unknown>)["job_id"];
    };
    await post("slow/export-cancel", { job_id: await started() });
    await readersAre(0);
    await started();
    await readersAre(1);
    const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
    const startedMs = performance.now();
    child.kill("SIGTERM");
    expect(await exited).toBe(0);
    expect(performance.now() - startedMs).toBeLessThan(10_000);
  }, 90_000);
});
