/**
 * A service with jobs, for tests that kill or stop the process that runs the jobs, or take its servers away. That
 * process is `rowgate worker` over Redis with locks of one second, or the service itself.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { createLog } from "../../app/start/observing/log.ts";
import { openService } from "../../app/start/servers/wire.ts";
import type { Answer, Fixture } from "../contract/harness.ts";
import { createTables, type FixtureTable } from "../contract/tables.ts";
import { startService } from "../faults/service-process.ts";
import { freshDatabase } from "../servers/database.ts";
import { type EngineName, openSession } from "../servers/session.ts";
import { onSmallDisk, seenBy } from "./small-disk.ts";
import { startWorkerProcess } from "./worker-process.ts";

/** Every engine with a worker, and the one that needs no server with none. */
export const places = [
  { engine: "postgres", where: "in a worker" },
  { engine: "mysql", where: "in a worker" },
  { engine: "sqlite", where: "in a worker" },
  { engine: "sqlite", where: "in the service" },
] as const;

export interface PlaceOptions {
  readonly engine: EngineName;
  readonly where: "in a worker" | "in the service";
  readonly tables: readonly FixtureTable[];
  readonly endpoints: Readonly<Record<string, object>>;
  /** Statements to run after the tables are made. */
  readonly setUp?: readonly string[];
  /** Default: a fresh database of the run's server. */
  readonly databaseUrl?: string;
  /** Default: the run's. */
  readonly redisUrl?: string;
  /** For places in the service: the files are on a disk of this size, which is gone when the service ends. */
  readonly diskBytes?: number;
}

export interface Place extends Pick<Fixture, "request" | "post"> {
  /** Sends a request whose answer can be a file; `path` from the root. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Where the files of the jobs are, as the tests see it. */
  readonly folder: string;
  /** Runs SQL without the service, in a separate session. */
  sql(text: string): Promise<Record<string, unknown>[]>;
  /** The process that runs the jobs. */
  runner(): ChildProcess;
  /** Sends SIGKILL to that process. Without a worker, the service is then down. */
  kill(): Promise<void>;
  /** Starts another such process; resolves when it takes jobs. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export async function openPlace(options: PlaceOptions): Promise<Place> {
  const { engine, where, tables, endpoints, setUp = [] } = options;
  const database = options.databaseUrl === undefined ? await freshDatabase(engine) : null;
  const url = options.databaseUrl ?? database!.url;
  const folder = await mkdtemp(join(tmpdir(), "rowgate-test-jobs-"));
  const session = await openSession(engine, url);
  for (const text of [...createTables(engine, tables), ...setUp]) await session.run(text);
  await session.close();

  const files = { "project.json": { database: { url } }, ...jsonFiles(endpoints) };
  const parts = where === "in a worker" ? withWorker : alone;
  const { close, ...place } = await parts({ files, folder, options });
  const request: Place["request"] = async (path, init) => answerOf(await place.fetch(path, init));
  return {
    ...place,
    folder: options.diskBytes === undefined ? folder : seenBy(place.runner().pid!, folder),
    request,
    post: (path, body) =>
      request(`/api/test/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    async sql(text) {
      const one = await openSession(engine, url);
      try {
        return await one.run(text);
      } finally {
        await one.close();
      }
    },
    async close() {
      await close();
      await database?.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Parts {
  readonly files: Readonly<Record<string, object>>;
  readonly folder: string;
  readonly options: PlaceOptions;
}
type PlaceParts = Pick<Place, "fetch" | "runner" | "kill" | "start" | "close">;

async function withWorker({ files, folder, options }: Parts): Promise<PlaceParts> {
  const env = {
    STORAGE_URL: `file:${folder}`,
    REDIS_URL: options.redisUrl ?? inject("serverUrls")!.redis!,
    JOBS_QUEUE: `test-${randomUUID()}`,
  };
  const texts = new Map(
    Object.entries(files).map(([name, content]) => [`test/${name}`, JSON.stringify(content)]),
  );
  const service = await openService({ files: texts, env, log: createLog("silent") });
  await service.ready;
  const startWorker = () =>
    startWorkerProcess({ files: texts, env, program: "test/jobs/hasty-worker.ts" });
  let worker = await startWorker();
  return {
    fetch: async (path, init) => service.app.request(path, init),
    runner: () => worker.process,
    kill: async () => void (await worker.end("SIGKILL")),
    async start() {
      worker = await startWorker();
    },
    async close() {
      await worker.stop();
      await service.close();
    },
  };
}

async function alone({ files, folder, options: { diskBytes } }: Parts): Promise<PlaceParts> {
  const env = { STORAGE_URL: `file:${folder}`, REDIS_URL: "" };
  const within = diskBytes === undefined ? [] : onSmallDisk(folder, diskBytes);
  const startAlone = () => startService(files, { env, within });
  let service = await startAlone();
  return {
    fetch: (path, init) => fetch(`${service.origin}${path}`, init),
    runner: () => service.process,
    async kill() {
      const exited = once(service.process, "exit");
      service.process.kill("SIGKILL");
      await exited;
      // It has ended: this removes its folder.
      await service.stop();
    },
    async start() {
      service = await startAlone();
    },
    close: () => service.stop(),
  };
}

const jsonFiles = (endpoints: PlaceOptions["endpoints"]): Record<string, object> =>
  Object.fromEntries(Object.entries(endpoints).map(([name, payload]) => [`${name}.json`, payload]));

async function answerOf(response: Response): Promise<Answer> {
  const { status, headers } = response;
  const isJson = headers.get("content-type")?.includes("application/json") ?? false;
  return { status, headers, body: isJson ? await response.json() : await response.text() };
}
