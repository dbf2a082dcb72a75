/**
 * A worker that gets no jobs although some wait ends itself, so that another replaces it; a healthy one does not. Its
 * reads from Redis are lost on the way, as behind a router that dropped the connection.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { afterEach, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { createLog } from "../../app/start/observing/log.ts";
import { openService, type Service } from "../../app/start/servers/wire.ts";
import { keyPrefix } from "../../jobs/queue/bullmq/redis-server.ts";
import { createTables } from "../contract/tables.ts";
import { freshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";
import { startWorkerProcess, type WorkerProcess } from "./worker-process.ts";
import { openForTests } from "../contract/harness.ts";

const stuckLookMs = 300;

let folder: string;
let service: Service;
let worker: WorkerProcess | undefined;
let link: Link;
let env: Record<string, string>;
let files: Map<string, string>;

const database = openForTests(freshDatabase, "sqlite");
beforeAll(async () => {
  const session = await openSession("sqlite", database.url);
  const columns = { id: "key", name: "text(20)" } as const;
  for (const text of createTables("sqlite", [{ name: "goods", columns }])) await session.run(text);
  await session.run("insert into goods values ('1', 'one')");
  await session.close();
  files = new Map([
    ["test/project.json", JSON.stringify({ database: { url: database.url } })],
    ["test/goods.json", JSON.stringify({ tableName: "goods", action: { export: true } })],
  ]);
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rowgate-test-watchdog-"));
  const REDIS_URL = inject("serverUrls")!.redis!;
  env = { STORAGE_URL: `file:${folder}`, REDIS_URL, JOBS_QUEUE: `test-${randomUUID()}` };
  link = await openLink(REDIS_URL);
  service = await openService({ files, env, log: createLog("silent") });
  await service.ready;
});
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
  await service.close();
  link.close();
  await rm(folder, { recursive: true, force: true });
});

const startWorker = async (): Promise<WorkerProcess> =>
  (worker = await startWorkerProcess({
    files,
    env: { ...env, REDIS_URL: link.url, TEST_STUCK_LOOK_MS: String(stuckLookMs) },
    program: "test/jobs/hasty-worker.ts",
  }));

/** Undefined where the service refuses to start another one. */
async function startExport(): Promise<string | undefined> {
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" };
  const response = await service.app.request("/api/test/goods/export", init);
  return ((await response.json()) as { job_id?: string }).job_id;
}

async function statusOf(id: string | undefined): Promise<string> {
  const response = await service.app.request(`/api/test/goods/export-status?job_id=${id}`);
  return ((await response.json()) as { status: string }).status;
}

const isAlive = ({ process: { exitCode, signalCode } }: WorkerProcess): boolean =>
  exitCode === null && signalCode === null;

test("a worker that gets no jobs though some wait ends with 1", async () => {
  link.loseReads();
  const stuck = await startWorker();
  await sleep(3 * stuckLookMs);
  // Nothing waits yet.
  expect(isAlive(stuck)).toBe(true);
  const id = await startExport();
  const [code] = await once(stuck.process, "exit");
  expect(code).toBe(1);
  expect(await statusOf(id)).toBe("pending");
});

test("a worker that runs one job after the other lives, however many wait", async () => {
  const busy = await startWorker();
  const ids: string[] = [];
  const giveUpAtMs = performance.now() + 6 * stuckLookMs;
  while (performance.now() < giveUpAtMs) {
    const started = await Promise.all(Array.from({ length: 10 }, startExport));
    // A further export is refused when the caller has the maximum of waiting jobs.
    ids.push(...started.filter((id) => id !== undefined));
    await sleep(50);
  }
  for (const id of ids) while ((await statusOf(id)) !== "completed") await sleep(10);
  expect(isAlive(busy)).toBe(true);
});

test("a worker whose queue somebody paused lives, and goes on", async () => {
  const idle = await startWorker();
  const redis = new Redis(env["REDIS_URL"]!, { maxRetriesPerRequest: null });
  const queue = new Queue(env["JOBS_QUEUE"]!, { connection: redis, prefix: keyPrefix });
  try {
    await queue.pause();
    const id = await startExport();
    await sleep(6 * stuckLookMs);
    expect([isAlive(idle), await statusOf(id)]).toEqual([true, "pending"]);
    await queue.resume();
    while ((await statusOf(id)) !== "completed") await sleep(10);
  } finally {
    await queue.close();
    redis.disconnect();
  }
});

interface Link {
  /** As the Redis behind it. */
  readonly url: string;
  /** From now on, a connection that waits for a job hears nothing more, and is not closed either. */
  loseReads(): void;
  close(): void;
}

async function openLink(redisUrl: string): Promise<Link> {
  const { hostname, port } = new URL(redisUrl);
  const sockets = new Set<Socket>();
  let isLosing = false;
  const server = createServer((client) => {
    const redis = connect(Number(port), hostname);
    let isLost = false;
    for (const socket of [client, redis]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.once("close", () => {
        client.destroy();
        redis.destroy();
      });
    }
    client.on("data", (chunk) => {
      isLost ||= isLosing && /bzpopmin/i.test(chunk.toString("latin1"));
      redis.write(chunk);
    });
    redis.on("data", (chunk) => void (isLost || client.write(chunk)));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(redisUrl);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    loseReads() {
      isLosing = true;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
