/**
 * A service for the bench of jobs, with its own folder of files. Jobs run in the service, or in a worker over Redis.
 * Each measurement starts a new worker, so that its memory is that of one job.
 */
import { randomUUID } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { Queue } from "bullmq";
import { connectWorker, keyPrefix } from "../jobs/queue/bullmq/redis-server.ts";
import type { Bench, Contender, EngineName } from "./contest.ts";
import { type DoneJob, type JobClient, jobClient } from "./job-client.ts";
import { endpoint as itemsEndpoint } from "./job-table.ts";
import { peakMiB } from "./turn.ts";

export interface JobPlaceOptions {
  readonly database: string;
  readonly where: "worker" | "service";
  /** Further settings of the endpoint. */
  readonly endpoint?: object;
}

export interface JobPlace {
  readonly service: Contender;
  readonly client: JobClient;
  /** A worker after a small job, so that one-time loading is not measured. Null: jobs run in the service. */
  startWorker(): Promise<Contender | null>;
  /** Runs a job in a new worker; `peak` in MiB, of the process that ran it. */
  measure(job: (client: JobClient) => Promise<DoneJob>): Promise<DoneJob & { peak: number }>;
  /** Bytes of the file that was exported last. */
  newestFile(): Promise<number>;
  close(): void;
}

export async function openJobPlace(
  bench: Bench,
  engine: EngineName,
  { database, where, endpoint }: JobPlaceOptions,
): Promise<JobPlace> {
  const files = join(bench.folder, `files-${randomUUID()}`);
  const queueName = `bench-${randomUUID()}`;
  const redisUrl = where === "worker" ? bench.redisUrl! : "";
  const options = {
    database,
    endpoint: { ...itemsEndpoint, ...endpoint },
    project: { cache: { enabled: false }, jobs: { maxUploadMb: 200 } },
    env: { STORAGE_URL: `file:${files}`, REDIS_URL: redisUrl, JOBS_QUEUE: queueName },
  };
  if (where === "worker") bench.atEnd(() => forgetQueue(redisUrl, queueName));
  const service = await bench.serve(engine, options);
  const client = jobClient(service.origin);

  async function startWorker(): Promise<Contender | null> {
    const worker = where === "worker" ? await bench.work(engine, options) : null;
    await client.exportAll({ where: { conditions: [{ key: "number", operator: "=", value: 1 }] } });
    return worker;
  }

  return {
    service,
    client,
    startWorker,
    async measure(job) {
      const worker = await startWorker();
      const done = await job(client);
      const peak = peakMiB((worker ?? service).pid);
      worker?.stop();
      return { ...done, peak };
    },
    async newestFile() {
      const folder = join(files, "exports", "bench");
      const found = await Promise.all(
        (await readdir(folder)).map((name) => stat(join(folder, name))),
      );
      return found.toSorted((a, b) => b.mtimeMs - a.mtimeMs)[0]?.size ?? 0;
    },
    close: () => service.stop(),
  };
}

/** Removes all its data, so that a Redis from the environment stays clean. */
async function forgetQueue(redisUrl: string, queueName: string): Promise<void> {
  const connection = connectWorker(redisUrl);
  const queue = new Queue(queueName, { connection, prefix: keyPrefix, skipMetasUpdate: true });
  await queue.obliterate({ force: true });
  await queue.close();
  connection.disconnect();
}
