/** Exports while Redis is down, hangs or may evict jobs: answers come within a second, and work resumes afterwards. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLog } from "../../app/start/observing/log.ts";
import { openService, type Service } from "../../app/start/servers/wire.ts";
import { createTables } from "../contract/tables.ts";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";
import { type OwnRedis, startRedis, writtenDown } from "../stores/own-redis.ts";
import { startWorkerProcess, type WorkerProcess } from "./worker-process.ts";

let database: FreshDatabase;
let folder: string;
let redis: OwnRedis | undefined;
let service: Service | undefined;
let worker: WorkerProcess | undefined;

beforeEach(async () => {
  database = await freshDatabase("sqlite");
  folder = await mkdtemp(join(tmpdir(), "rowgate-test-away-"));
  const session = await openSession("sqlite", database.url);
  const columns = { id: "key", name: "text(20)" } as const;
  for (const text of createTables("sqlite", [{ name: "goods", columns }])) await session.run(text);
  await session.run("insert into goods values ('1', 'one')");
  await session.close();
});
afterEach(async () => {
  await worker?.stop();
  await service?.close();
  await redis?.stop();
  worker = service = redis = undefined;
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

const files = (): Map<string, string> =>
  new Map([
    ["test/project.json", JSON.stringify({ database: { url: database.url } })],
    [
      "test/goods.json",
      JSON.stringify({ tableName: "goods", action: { export: true, read: true } }),
    ],
  ]);
const env = () => ({ STORAGE_URL: `file:${folder}`, REDIS_URL: redis!.url });

async function open(): Promise<Service> {
  service = await openService({ files: files(), env: env(), log: createLog("silent") });
  await service.ready;
  return service;
}

interface Timed {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly lastedMs: number;
}

async function ask(action: string, body?: object): Promise<Timed> {
  const startedMs = performance.now();
  const init = body && {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  const response = await service!.app.request(`/api/test/goods/${action}`, init);
  const answer = (await response.json()) as Record<string, unknown>;
  return { status: response.status, body: answer, lastedMs: performance.now() - startedMs };
}

async function completed(id: string): Promise<void> {
  const giveUpAtMs = performance.now() + 15_000;
  for (;;) {
    const { body } = await ask(`export-status?job_id=${id}`);
    if (body["status"] === "completed") return;
    if (body["status"] === "failed" || performance.now() > giveUpAtMs)
      throw new Error(JSON.stringify(body));
    await sleep(50);
  }
}

const idOf = ({ body }: Timed): string => body["job_id"] as string;

function expectAway({ status, body, lastedMs }: Timed): void {
  expect([status, body["error"]]).toEqual([503, "Service unavailable"]);
  expect(lastedMs).toBeLessThan(1_000);
}

test.each(["is killed", "stops answering"])(
  "a Redis that %s makes jobs unavailable within a second, and they go on when it is back",
  async (how) => {
    redis = await startRedis(...writtenDown);
    await open();
    worker = await startWorkerProcess({ files: files(), env: env() });
    const before = idOf(await ask("export", {}));
    await completed(before);

    if (how === "is killed") await redis.kill();
    else redis.pause();
    expectAway(await ask("export", {}));
    expectAway(await ask(`export-status?job_id=${before}`));
    expectAway(await ask(`export-download?job_id=${before}`));
    expectAway(await ask("export-cancel", { job_id: before }));
    expect((await ask("read", { limit: 5 })).status).toBe(200);
    await sleep(1_500);

    if (how === "is killed") await redis.start();
    else redis.goOn();
    const backMs = performance.now();
    let after = await ask("export", {});
    while (after.status === 503 && performance.now() - backMs < 10_000) {
      await sleep(100);
      after = await ask("export", {});
    }
    expect(after.status).toBe(200);
    await completed(idOf(after));
    expect(performance.now() - backMs).toBeLessThan(10_000);
    expect((await ask(`export-status?job_id=${before}`)).body["status"]).toBe("completed");
  },
);

test("a service that starts without its Redis answers 503, and takes jobs once it is there", async () => {
  redis = await startRedis();
  await redis.kill();
  await open();
  expectAway(await ask("export", {}));
  await redis.start();
  worker = await startWorkerProcess({ files: files(), env: env() });
  let answer = await ask("export", {});
  while (answer.status === 503) {
    await sleep(100);
    answer = await ask("export", {});
  }
  await completed(idOf(answer));
});

describe("a Redis that throws data away when it is full", () => {
  const evicting = ["--maxmemory", "50mb", "--maxmemory-policy", "allkeys-lru"];

  test("is refused by a service with exports", async () => {
    redis = await startRedis(...evicting);
    await expect(open()).rejects.toThrow("set maxmemory-policy to noeviction");
  });

  test("is refused by a worker", async () => {
    redis = await startRedis(...evicting);
    const starting = startWorkerProcess({ files: files(), env: env() });
    await expect(starting).rejects.toThrow(/ended with 1: .*maxmemory-policy/);
  });

  test("is taken by a service without jobs", async () => {
    redis = await startRedis(...evicting);
    const plain = files().set("test/goods.json", '{"tableName":"goods","action":{"read":true}}');
    service = await openService({ files: plain, env: env(), log: createLog("silent") });
    await service.ready;
    expect((await ask("read", { limit: 1 })).status).toBe(200);
  });

  test("is taken where it has no bounds, as then it never is full", async () => {
    redis = await startRedis("--maxmemory-policy", "allkeys-lru");
    await open();
    expect((await ask("export", {})).status).toBe(200);
  });
});

test("a worker without REDIS_URL says what it lacks", async () => {
  const starting = startWorkerProcess({ files: files(), env: { REDIS_URL: "" } });
  await expect(starting).rejects.toThrow("A worker needs REDIS_URL");
});
