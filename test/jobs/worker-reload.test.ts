/** SIGHUP to a worker: the job that it runs finishes with the old configuration, and the next one uses the new one. */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { createLog } from "../../app/start/observing/log.ts";
import { openService, type Service } from "../../app/start/servers/wire.ts";
import type { FreshDatabase } from "../servers/database.ts";
import { openThings } from "./things.ts";
import { startWorkerProcess, type WorkerProcess } from "./worker-process.ts";

let database: FreshDatabase;
let folder: string;
let service: Service;
let worker: WorkerProcess;

const filesWith = (action: object) =>
  new Map([
    ["test/project.json", JSON.stringify({ database: { url: database.url } })],
    ["test/things.json", JSON.stringify({ tableName: "things", ...action })],
  ]);
const whole = { action: { export: true } };
const hidden = { ...whole, hiddenFields: ["word"] };

beforeAll(async () => {
  database = await openThings();
  folder = await mkdtemp(join(tmpdir(), "rowgate-test-worker-reload-"));
  const env = {
    STORAGE_URL: `file:${folder}`,
    REDIS_URL: inject("serverUrls")!.redis!,
    JOBS_QUEUE: `test-${randomUUID()}`,
  };
  const files = filesWith(whole);
  service = await openService({ files, env, log: createLog("silent") });
  await service.ready;
  worker = await startWorkerProcess({ files, env: { ...env, LOG_LEVEL: "error" } });
}, 30_000);
afterAll(async () => {
  await worker?.stop();
  await service?.close();
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

async function ask(path: string, init?: RequestInit): Promise<Response> {
  return service.app.request(`/api/test/things/${path}`, init);
}

async function start(): Promise<string> {
  const headers = { "Content-Type": "application/json" };
  const response = await ask("export", { method: "POST", headers, body: '{"format":"jsonl"}' });
  return ((await response.json()) as { job_id: string }).job_id;
}

interface Status {
  readonly status: string;
  readonly progress?: { readonly processed_rows: number };
}

/** Resolves with the first status of the job that is as asked. */
async function statusWhen(id: string, isReached: (status: Status) => boolean): Promise<Status> {
  for (;;) {
    const status = (await (await ask(`export-status?job_id=${id}`)).json()) as Status;
    if (isReached(status)) return status;
    await sleep(10);
  }
}

async function fieldsOf(id: string): Promise<string[]> {
  await statusWhen(id, ({ status }) => status === "completed");
  const text = await (await ask(`export-download?job_id=${id}`)).text();
  const rows = text
    .trim()
    .split("\n")
    .map((line) => Object.keys(JSON.parse(line) as object));
  return [...new Set(rows.flat())];
}

test("a worker loads its configuration again between jobs", { timeout: 60_000 }, async () => {
  const running = await start();
  await statusWhen(running, ({ progress }) => (progress?.processed_rows ?? 0) > 0);
  await worker.save(filesWith(hidden));
  worker.process.kill("SIGHUP");
  expect(await fieldsOf(running)).toContain("word");
  // The worker may have needed a moment to read its files.
  await expect.poll(async () => fieldsOf(await start()), { timeout: 40_000 }).not.toContain("word");
});

test("a faulty configuration leaves the old one with the worker", { timeout: 60_000 }, async () => {
  await worker.save(new Map([["test/things.json", "{"]]));
  worker.process.kill("SIGHUP");
  await expect.poll(() => worker.output(), { timeout: 20_000 }).toContain("the old one stays");
  expect(await fieldsOf(await start())).not.toContain("word");
});
