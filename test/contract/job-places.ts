/**
 * Where jobs run: in the service, or in a worker process over Redis. Contract tests of jobs run wherever the engine's
 * run has the servers. Long ones (exports, imports) run in the service; the projects `places-*` repeat them with a
 * bucket, in the service and in a worker. Imports that are large or have handlers run in a worker with a folder, which
 * `test/jobs` kills and stops as well. The files' folder is deleted at the end.
 */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { inject } from "vitest";
import type { Files } from "../../core/plans/files-port.ts";
import { createBucketFiles } from "../../jobs/files/bucket-files.ts";
import { createFolderFiles } from "../../jobs/files/folder-files.ts";
import { startWorkerProcess } from "../jobs/worker-process.ts";
import type { EngineName } from "../servers/session.ts";
import { startBucket } from "../storage/own-bucket.ts";
import { type Answer, type Fixture, type FixtureOptions, openFixture } from "./harness.ts";

type FolderStorage = "in the service" | "in a worker over Redis";
export type JobPlace = FolderStorage | `${FolderStorage}, files in a bucket`;

/** SQLite's run has no Redis. */
export const jobPlaces: readonly JobPlace[] =
  inject("engine") === "sqlite" ? ["in the service"] : ["in the service", "in a worker over Redis"];

const otherPlaces: Readonly<Record<EngineName, readonly JobPlace[]>> = {
  sqlite: ["in the service, files in a bucket"],
  postgres: ["in a worker over Redis, files in a bucket"],
  mysql: [],
};

/** Where the long tests of exports and imports run in this Vitest project. */
export const longTestPlaces: readonly JobPlace[] = inject("isInOtherPlaces")
  ? otherPlaces[inject("engine")]
  : ["in the service"];

/** Where those run to which it is all one where the files are. */
export const folderTestPlaces: readonly JobPlace[] = inject("isInOtherPlaces")
  ? ["in a worker over Redis"]
  : ["in the service"];

declare module "vitest" {
  interface ProvidedContext {
    /** True in the projects `places-*`. */
    isInOtherPlaces?: boolean;
  }
}

export interface JobFixture extends Fixture {
  /** Where the service keeps its files, unless they are in a bucket. */
  readonly filesFolder: string;
  /** The same files as the service's. */
  readonly storage: Files;
  /** GETs a path below `/api/test`. */
  get(path: string, init?: RequestInit): Promise<Answer>;
  /** The status of the export once it has ended. */
  ended(endpoint: string, jobId: string): Promise<Answer>;
  /** Starts an export and resolves with its id. */
  start(endpoint: string, body?: unknown): Promise<string>;
  /** The text of the exported file with these rows. */
  exported(endpoint: string, body?: unknown): Promise<string>;
}

export async function openJobFixture(
  place: JobPlace,
  options: FixtureOptions,
): Promise<JobFixture> {
  const folder = await mkdtemp(join(tmpdir(), "rowgate-test-files-"));
  const isRemote = place.startsWith("in a worker over Redis");
  const bucket = place.endsWith("in a bucket") ? await startBucket() : null;
  const env = {
    ...options.env,
    ...(bucket ? bucket.env : { STORAGE_URL: `file:${folder}` }),
    ...(isRemote
      ? { REDIS_URL: inject("serverUrls")!.redis!, JOBS_QUEUE: `test-${randomUUID()}` }
      : {}),
  };
  const fixture = await openFixture({ ...options, env });
  const worker = isRemote ? await startWorkerProcess({ files: fixture.files, env }) : null;

  const get = (path: string, init?: RequestInit) => fixture.request(`/api/test/${path}`, init);
  const ended = async (endpoint: string, jobId: string): Promise<Answer> => {
    const giveUpAtMs = performance.now() + 14_000;
    for (;;) {
      const answer = await get(`${endpoint}/export-status?job_id=${jobId}`);
      if (answer.body.status !== "pending" && answer.body.status !== "processing") return answer;
      if (performance.now() > giveUpAtMs) throw new Error(JSON.stringify(answer.body));
      await sleep(30);
    }
  };
  const start = async (endpoint: string, body: unknown = {}): Promise<string> => {
    const answer = await fixture.post(`${endpoint}/export`, body);
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    return answer.body.job_id;
  };
  return {
    ...fixture,
    filesFolder: folder,
    storage: bucket
      ? createBucketFiles({ ...bucket.address, prefix: "prefix/" })
      : createFolderFiles(folder),
    get,
    ended,
    start,
    async exported(endpoint, body) {
      const jobId = await start(endpoint, body);
      const status = await ended(endpoint, jobId);
      if (status.body.status !== "completed") throw new Error(JSON.stringify(status.body));
      const path = `/api/test/${endpoint}/export-download?job_id=${jobId}`;
      return (await fixture.fetch(path)).text();
    },
    async close() {
      await worker?.stop();
      await fixture.close();
      await bucket?.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
