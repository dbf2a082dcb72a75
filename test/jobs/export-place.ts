/**
 * A table of 60,000 rows, with services and workers that export it and keep their jobs in PostgreSQL. For tests that
 * stop that database or the workers.
 */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createLog } from "../../app/start/observing/log.ts";
import { openService, type Service } from "../../app/start/servers/wire.ts";
import { freshDatabase } from "../servers/database.ts";
import { openThings } from "./things.ts";
import { startWorkerProcess, type WorkerProcess } from "./worker-process.ts";

/** A program whose workers lose their jobs after a second. */
export const hasty = "test/jobs/hasty-worker.ts";

export type Env = Readonly<Record<string, string>>;

export interface ExportPlace {
  /** A fresh database for jobs. */
  readonly jobsUrl: string;
  /** The configuration, by path. */
  readonly files: ReadonlyMap<string, string>;
  /** Environment with the jobs in that database, in a separate queue. */
  envOf(url: string): Env;
  openOver(env: Env): Promise<Service>;
  startWorker(env: Env, program?: string): Promise<WorkerProcess>;
  /** Called by `tidy`, the last first. */
  readonly opened: (() => Promise<unknown>)[];
  /** Closes what one test opened. */
  tidy(): Promise<void>;
  close(): Promise<void>;
}

export async function openExportPlace(): Promise<ExportPlace> {
  const data = await openThings();
  const jobs = await freshDatabase("postgres");
  const folder = await mkdtemp(join(tmpdir(), "rowgate-test-jobs-database-"));
  const files = new Map([
    ["test/project.json", JSON.stringify({ database: { url: data.url } })],
    [
      "test/things.json",
      JSON.stringify({ tableName: "things", action: { export: true, read: true } }),
    ],
  ]);
  const opened: (() => Promise<unknown>)[] = [];
  return {
    jobsUrl: jobs.url,
    files,
    envOf: (url) => ({
      STORAGE_URL: `file:${folder}`,
      JOBS_DATABASE_URL: url,
      JOBS_QUEUE: `test-${randomUUID()}`,
    }),
    async openOver(env) {
      const service = await openService({ files, env, log: createLog("silent") });
      opened.push(() => service.close());
      await service.ready;
      return service;
    },
    async startWorker(env, program) {
      const worker = await startWorkerProcess({ files, env, ...(program && { program }) });
      opened.push(() => worker.stop());
      return worker;
    },
    opened,
    async tidy() {
      for (const close of opened.splice(0).toReversed()) await close();
    },
    async close() {
      await data.drop();
      await jobs.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export interface Timed {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly lastedMs: number;
}

export async function ask({ app }: Service, action: string, body?: object): Promise<Timed> {
  const startedMs = performance.now();
  const init = body && {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  const response = await app.request(`/api/test/things/${action}`, init);
  const answer = (await response.json()) as Record<string, unknown>;
  return { status: response.status, body: answer, lastedMs: performance.now() - startedMs };
}

export async function startExport(service: Service): Promise<string> {
  return (await ask(service, "export", { format: "jsonl" })).body["job_id"] as string;
}

/** Waits for the export's final status. Ignores answers without a status. */
export async function ended(service: Service, id: string, withinMs = 30_000): Promise<string> {
  const giveUpAtMs = performance.now() + withinMs;
  for (;;) {
    const { body } = await ask(service, `export-status?job_id=${id}`);
    if (body["status"] === "completed" || body["status"] === "failed") return body["status"];
    if (performance.now() > giveUpAtMs) throw new Error(`Still ${JSON.stringify(body)}`);
    await sleep(50);
  }
}

/** Resolves when the job is running. */
export async function processing(service: Service, id: string): Promise<void> {
  while ((await ask(service, `export-status?job_id=${id}`)).body["status"] !== "processing")
    await sleep(5);
}

/** Rows in its file, each counted once. */
export async function linesOf({ app }: Service, id: string): Promise<number> {
  const response = await app.request(`/api/test/things/export-download?job_id=${id}`);
  const lines = (await response.text()).trimEnd().split("\n");
  return new Set(lines.map((line) => (JSON.parse(line) as { id: number }).id)).size;
}
