/** The metrics of a service and of a worker about jobs. */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from "vitest";
import { createLog } from "../../app/start/observing/log.ts";
import { openService, type Service } from "../../app/start/servers/wire.ts";
import { createTables } from "../contract/tables.ts";
import { readExposition, type Sample } from "../observe/exposition.ts";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";
import { freePort } from "../servers/start.ts";
import { startRedis } from "../stores/own-redis.ts";
import { startWorkerProcess } from "./worker-process.ts";

const token = "a-token-of-the-metrics";
const bearer = { Authorization: `Bearer ${token}` };

let data: FreshDatabase;
let folder: string;
let files: Map<string, string>;
let opened: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  data = await freshDatabase("sqlite");
  folder = await mkdtemp(join(tmpdir(), "rowgate-test-metrics-"));
  const session = await openSession("sqlite", data.url);
  const columns = { id: "key", name: "text(20)" } as const;
  for (const text of createTables("sqlite", [{ name: "goods", columns }])) await session.run(text);
  await session.run("insert into goods values ('1', 'one')");
  await session.close();
  files = new Map([
    ["test/project.json", JSON.stringify({ database: { url: data.url } })],
    ["test/goods.json", '{"tableName":"goods","action":{"export":true,"read":true}}'],
  ]);
});
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});
afterAll(async () => {
  await data?.drop();
  await rm(folder, { recursive: true, force: true });
});

async function open(env: Record<string, string>): Promise<Service> {
  const service = await openService({ files, env, log: createLog("silent") });
  opened.push(() => service.close());
  await service.ready;
  return service;
}

const envOf = (server: Readonly<Record<string, string>>): Record<string, string> => ({
  STORAGE_URL: `file:${folder}`,
  JOBS_QUEUE: `test-${randomUUID()}`,
  METRICS_TOKEN: token,
  ...server,
});

async function startExport({ app }: Service): Promise<void> {
  const init = {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ format: "csv" }),
  };
  expect((await app.request("/api/test/goods/export", init)).status).toBe(200);
}

/** The samples of a metric. */
const samplesIn = (text: string, name: string): Sample[] =>
  readExposition(text).get(name)?.samples ?? [];
const scrape = async ({ app }: Service): Promise<string> =>
  (await app.request("/metrics", { headers: bearer })).text();

/** By state. */
const jobsIn = (text: string, queue: string): Record<string, number> =>
  Object.fromEntries(
    samplesIn(text, "rowgate_jobs")
      .filter(({ labels }) => labels["queue"] === queue)
      .map(({ labels, value }) => [labels["state"]!, value]),
  );
/** Runs by kind and outcome. */
const runsIn = (text: string): string[] =>
  samplesIn(text, "rowgate_job_duration_seconds")
    .filter(({ name }) => name.endsWith("_count"))
    .map(({ labels: { kind, outcome }, value }) => `${kind} ${outcome} ${value}`);

const none = { waiting: 0, active: 0, delayed: 0, completed: 0, failed: 0 };

test("a service without Redis tells its own jobs and their runs", async () => {
  const service = await open(envOf({}));
  expect(jobsIn(await scrape(service), "jobs")).toEqual(none);
  await startExport(service);
  const counted = async () => jobsIn(await scrape(service), "jobs");
  await expect.poll(counted, { timeout: 10_000 }).toEqual({ ...none, completed: 1 });
  expect(runsIn(await scrape(service))).toEqual(["export completed 1"]);
});

describe("over Redis", { timeout: 60_000 }, () => {
  test("the service tells the jobs of the queue, and the worker its runs on METRICS_PORT", async () => {
    const env = envOf({ REDIS_URL: inject("serverUrls")!.redis! });
    const service = await open(env);
    await startExport(service);
    expect(jobsIn(await scrape(service), "jobs")).toEqual({ ...none, waiting: 1 });

    const port = await freePort();
    const worker = await startWorkerProcess({ files, env: { ...env, METRICS_PORT: String(port) } });
    opened.push(() => worker.stop());
    const counted = async () => jobsIn(await scrape(service), "jobs");
    await expect.poll(counted, { timeout: 20_000 }).toEqual({ ...none, completed: 1 });

    const ask = (path: string, init: RequestInit = {}) =>
      fetch(`http://127.0.0.1:${port}${path}`, init);
    const text = await (await ask("/metrics", { headers: bearer })).text();
    expect(runsIn(text)).toEqual(["export completed 1"]);
    expect(samplesIn(text, "process_resident_memory_bytes")).toHaveLength(1);
    const statuses = await Promise.all([
      ask("/metrics"),
      ask("/metrics", { headers: { Authorization: "Bearer a-token-of-somebody-else" } }),
      ask("/metrics", { headers: { "X-Forwarded-For": "127.0.0.1" } }),
      ask("/", { headers: bearer }),
      ask("/metrics", { method: "POST", headers: bearer }),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([200, 401, 401, 404, 404]);
  });

  test("a Redis that is away is told, and holds the answer up for a moment only", async () => {
    const redis = await startRedis();
    opened.push(() => redis.stop());
    const service = await open(envOf({ REDIS_URL: redis.url }));
    const isUp = async () => samplesIn(await scrape(service), "rowgate_queue_up")[0]?.value;
    expect(await isUp()).toBe(1);
    redis.pause();
    const startedMs = performance.now();
    expect(await isUp()).toBe(0);
    expect(jobsIn(await scrape(service), "jobs")).toEqual({});
    expect(performance.now() - startedMs).toBeLessThan(5_000);
    redis.goOn();
    await expect.poll(isUp, { timeout: 10_000 }).toBe(1);
  });
});
