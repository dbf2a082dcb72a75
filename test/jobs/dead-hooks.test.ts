/**
 * Hook calls that were given up: operators see them and can resend them from the command line or the jobs board. The
 * services are separate processes.
 */
import { join } from "node:path";
import { afterEach, describe, expect, inject, test } from "vitest";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";
import { runAside } from "../running/run-aside.ts";
import { openTown, type Town } from "./hook-places.ts";

const boardToken = "0123456789abcdef";
const cli = join(import.meta.dirname, "../../app/start/cli.ts");

let town: Town;
let jobs: FreshDatabase | undefined;
afterEach(async () => {
  await town?.close();
  await jobs?.drop();
  jobs = undefined;
});

const places = {
  "in files": async () => ({}),
  "in Redis": async () => ({ REDIS_URL: inject("serverUrls")!.redis! }),
  "in PostgreSQL": async () => {
    jobs = await freshDatabase("postgres");
    return { JOBS_DATABASE_URL: jobs.url };
  },
};

/** `rowgate hooks …` of the same installation. */
async function openHooks(env: Record<string, string>) {
  town = await openTown({ ...env, JOBS_BOARD_TOKEN: boardToken });
  const { filesFolder, queueName } = town;
  const own = { ...process.env, STORAGE_URL: `file:${filesFolder}`, JOBS_QUEUE: queueName, ...env };
  const rowgate = (...args: string[]) =>
    runAside(process.execPath, [cli, "hooks", ...args], own as Record<string, string>);
  /** The lines below the heading, each in its columns. */
  const listed = async (...args: string[]): Promise<string[][]> => {
    const { stdout } = await rowgate("list", ...args);
    return stdout
      .split("\n")
      .slice(1, -1)
      .map((line) => line.split(/ {2,}/));
  };
  return { ...town, rowgate, listed };
}

const timeout = 60_000;

describe.each(Object.keys(places) as (keyof typeof places)[])(
  "a hook that was given up, kept %s",
  { timeout },
  (place) => {
    test("is listed and, sent again once its receiver is mended, arrives once, with the same key", async () => {
      const { receiver, change, start, rowgate, listed } = await openHooks(await places[place]());
      const service = await start();
      receiver.answers(404);
      const path = await change(service);
      const [first] = await receiver.hears(path);
      const key = String(first!.headers["idempotency-key"]);
      const row = [
        key,
        expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        "1",
        "test/items",
        "told onAfter:tell",
        "The hook answered with status 404",
      ];
      await expect.poll(() => listed(), { timeout: 20_000 }).toEqual([row]);
      expect(await listed("--project", "test")).toEqual([row]);
      expect(await listed("--project", "other")).toEqual([]);

      receiver.answers(200);
      const sent = await rowgate("retry", "--id", key);
      expect([sent.status, sent.stdout]).toEqual([
        0,
        expect.stringMatching(/^1 hook call is sent again/),
      ]);
      const calls = await receiver.hears(path, 2, 20_000);
      expect(calls.map(({ headers }) => headers["idempotency-key"])).toEqual([key, key]);
      expect(calls[1]!.body).toBe(calls[0]!.body);
      expect(calls[1]!.headers.authorization).toBe(calls[0]!.headers.authorization);
      expect((await rowgate("list")).stdout).toBe("No hook call was given up\n");
      expect((await rowgate("retry", "--all")).stdout).toBe("No hook call is sent again\n");
      expect(receiver.heard).toHaveLength(2);
    });

    test("has all of its tries again when it is sent again", async () => {
      const { receiver, change, start, rowgate, listed } = await openHooks(await places[place]());
      const service = await start();
      receiver.answers(404);
      const path = await change(service);
      await expect.poll(() => listed(), { timeout: 10_000 }).toHaveLength(1);
      receiver.answers(503);
      await rowgate("retry", "--all");
      await receiver.hears(path, 3, 30_000);
      receiver.answers(200);
      await receiver.hears(path, 4, 30_000);
      expect(await listed()).toEqual([]);
    });
  },
);

test("an id that is not among them is an error", { timeout }, async () => {
  const { rowgate } = await openHooks({});
  const { status, stderr } = await rowgate("retry", "--id", "d9f0");
  expect([status, stderr]).toEqual([1, "No hook call with the id d9f0 was given up\n"]);
});

test("a queue that is away is an error that names the variable", { timeout }, async () => {
  const { rowgate } = await openHooks({ REDIS_URL: "redis://127.0.0.1:1" });
  const { status, stderr } = await rowgate("list");
  expect([status, stderr]).toEqual([1, "The hook queue of REDIS_URL is not reachable\n"]);
});

describe.each(["in Redis", "in PostgreSQL"] as const)(
  "the jobs board, %s",
  { timeout },
  (place) => {
    async function openBoard() {
      const opened = await openHooks(await places[place]());
      const service = await opened.start();
      const headers = { Authorization: `Bearer ${boardToken}` };
      const ask = (path: string, init: RequestInit = {}) =>
        fetch(`${service.origin}/jobs-board${path}`, {
          ...init,
          headers: { ...headers, ...init.headers },
        });
      const queue = encodeURIComponent(`${opened.queueName}/hooks`);
      const failed = async (): Promise<{ id: string; failedReason: string }[]> => {
        const answer = await ask(
          `/api/queues?activeQueue=${queue}&status=failed&page=1&jobsPerPage=10`,
        );
        const { queues } = (await answer.json()) as { queues: { name: string; jobs: never[] }[] };
        return queues.find(({ name }) => name === `${opened.queueName}/hooks`)!.jobs;
      };
      return { ...opened, service, ask, queue, failed };
    }

    test.each([
      ["one call", (queue: string, id: string) => `/api/queues/${queue}/${id}/retry`],
      ["all calls", (queue: string) => `/api/queues/${queue}/retry/failed`],
    ])("shows calls that were given up, and sends %s again", async (_, pathOf) => {
      const { receiver, change, service, ask, queue, failed } = await openBoard();
      receiver.answers(404);
      const path = await change(service);
      const [first] = await receiver.hears(path);
      await expect
        .poll(failed, { timeout: 10_000 })
        .toMatchObject([
          {
            id: first!.headers["idempotency-key"],
            failedReason: "The hook answered with status 404",
            data: { place: { endpoint: "items", hook: "onAfter:tell" } },
          },
        ]);
      receiver.answers(200);
      const id = String(first!.headers["idempotency-key"]);
      expect((await ask(pathOf(queue, id), { method: "PUT" })).status).toBeLessThan(300);
      const calls = await receiver.hears(path, 2);
      expect(new Set(calls.map(({ headers }) => headers["idempotency-key"]))).toEqual(
        new Set([id]),
      );
      expect(await failed()).toEqual([]);
    });

    test("does nothing else with them, and nothing for pages of other origins", async () => {
      const { receiver, change, service, ask, queue, failed } = await openBoard();
      receiver.answers(404);
      await change(service);
      await expect.poll(failed, { timeout: 10_000 }).toHaveLength(1);
      const [{ id } = { id: "" }] = await failed();
      const refused = [
        ["PUT", `/api/queues/${queue}/${id}/clean`],
        ["PUT", `/api/queues/${queue}/clean/failed`],
        ["PUT", `/api/queues/${queue}/retry/completed`],
        ["PUT", `/api/queues/${queue}/pause`],
        ["PUT", `/api/queues/${queue}/obliterate`],
        ["POST", `/api/queues/${queue}/add`],
        ["PATCH", `/api/queues/${queue}/${id}/update-data`],
        ["DELETE", `/api/queues/${queue}/${id}/retry`],
      ] as const;
      for (const [method, path] of refused)
        expect([path, (await ask(path, { method })).status]).toEqual([path, 405]);
      const foreign = { Origin: "https://elsewhere.example", "Sec-Fetch-Site": "cross-site" };
      const retry = `/api/queues/${queue}/${id}/retry`;
      expect((await ask(retry, { method: "PUT", headers: foreign })).status).toBe(403);
      expect(await failed()).toHaveLength(1);
    });
  },
);
