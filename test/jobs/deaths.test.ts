/** Workers that sleep, stop or die during an export, and how soon others take over. See also `export-kills.test.ts`. */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { createLog } from "../../app/start/observing/log.ts";
import { openService, type Service } from "../../app/start/servers/wire.ts";
import type { FreshDatabase } from "../servers/database.ts";
import { openThings, rows } from "./things.ts";
import { startWorkerProcess, type WorkerProcess } from "./worker-process.ts";

let database: FreshDatabase;
let folder: string;
let service: Service;
let files: Map<string, string>;
let env: Record<string, string>;

beforeAll(async () => {
  database = await openThings();
  folder = await mkdtemp(join(tmpdir(), "rowgate-test-deaths-"));
  files = new Map([
    ["test/project.json", JSON.stringify({ database: { url: database.url } })],
    ["test/things.json", JSON.stringify({ tableName: "things", action: { export: true } })],
  ]);
  env = {
    STORAGE_URL: `file:${folder}`,
    REDIS_URL: inject("serverUrls")!.redis!,
    JOBS_QUEUE: `test-${randomUUID()}`,
  };
  service = await openService({ files, env, log: createLog("silent") });
  await service.ready;
}, 30_000);
afterAll(async () => {
  await service?.close();
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

const startWorker = () => startWorkerProcess({ files, env, program: "test/jobs/hasty-worker.ts" });

async function ask(path: string, init?: RequestInit): Promise<Response> {
  return service.app.request(`/api/test/things/${path}`, init);
}

async function startExport(): Promise<string> {
  const headers = { "Content-Type": "application/json" };
  const response = await ask("export", { method: "POST", headers, body: '{"format":"jsonl"}' });
  return ((await response.json()) as { job_id: string }).job_id;
}

interface Status {
  status: string;
  progress?: { processed_rows: number; total_rows: number };
  error?: string;
}

const statusOf = async (id: string) =>
  (await (await ask(`export-status?job_id=${id}`)).json()) as Status;

async function ended(id: string, withinMs = 40_000): Promise<Status> {
  const giveUpAtMs = performance.now() + withinMs;
  for (;;) {
    const status = await statusOf(id);
    if (status.status === "completed" || status.status === "failed") return status;
    if (performance.now() > giveUpAtMs) throw new Error(`Still ${JSON.stringify(status)}`);
    await sleep(50);
  }
}

/** Counts the lines of the job's file: one complete line per row. */
async function linesOf(id: string): Promise<number> {
  const response = await ask(`export-download?job_id=${id}`);
  const text = await response.text();
  expect(text.length).toBe(Number(response.headers.get("content-length")));
  const lines = text.trimEnd().split("\n");
  const ids = lines.map((line) => (JSON.parse(line) as { id: number }).id);
  return new Set(ids).size;
}

describe("a worker that sleeps longer than its lock", () => {
  let workers: WorkerProcess[] = [];
  afterAll(async () => {
    for (const worker of workers) await worker.stop();
    workers = [];
  });

  test("loses its job to another, and when it wakes up nothing of it shows", async () => {
    const sleeper = await startWorker();
    workers.push(sleeper);
    const id = await startExport();
    while ((await statusOf(id)).status !== "processing") await sleep(5);
    sleeper.process.kill("SIGSTOP");
    const stoppedMs = performance.now();
    const other = await startWorker();
    workers.push(other);

    const seen: number[] = [];
    let isAwake = false;
    for (;;) {
      const { status, progress } = await statusOf(id);
      if (progress) seen.push(progress.processed_rows);
      if (status === "completed") break;
      expect(status).toBe("processing");
      // It wakes up while the other one works.
      if (!isAwake && performance.now() - stoppedMs > 2_500) {
        sleeper.process.kill("SIGCONT");
        isAwake = true;
      }
      expect(performance.now() - stoppedMs).toBeLessThan(25_000);
      await sleep(20);
    }
    sleeper.process.kill("SIGCONT");
    expect(seen).toEqual(seen.toSorted((one, two) => one - two));
    expect(await linesOf(id)).toBe(rows);
    await sleep(1_500);
    expect((await statusOf(id)).status).toBe("completed");
    expect(await linesOf(id)).toBe(rows);
    // The sleeper took no harm.
    await other.stop();
    workers.pop();
    const next = await startExport();
    expect((await ended(next)).status).toBe("completed");
  });
});

test("the job of a worker that was killed is taken over within 25 seconds", async () => {
  const first = await startWorkerProcess({ files, env });
  const id = await startExport();
  while ((await statusOf(id)).status !== "processing") await sleep(5);
  await first.end("SIGKILL");
  const killedMs = performance.now();
  const second = await startWorkerProcess({ files, env });
  expect((await ended(id)).status).toBe("completed");
  expect(performance.now() - killedMs).toBeLessThan(25_000);
  expect(await linesOf(id)).toBe(rows);
  await second.stop();
});

test("a worker that is stopped hands its job back, and ends with 0 within 10 seconds", async () => {
  const worker = await startWorker();
  const ids = await Promise.all([startExport(), startExport(), startExport(), startExport()]);
  while ((await statusOf(ids[0]!)).status === "pending") await sleep(5);
  const stoppedMs = performance.now();
  expect(await worker.end("SIGTERM")).toBe(0);
  expect(performance.now() - stoppedMs).toBeLessThan(10_000);
  const next = await startWorker();
  for (const id of ids) {
    expect((await ended(id)).status).toBe("completed");
    expect(await linesOf(id)).toBe(rows);
  }
  await next.stop();
});
