/**
 * Exports and imports that are started where no process goes on: they are put into BullMQ's queue in Redis, over a
 * connection of the one request, and a `rowgate worker` elsewhere runs them. Their files are in a bucket.
 */
import { createProjectJobs, type ProjectJobs } from "../../../core/jobs/jobs.ts";
import type { ProjectConfig } from "../../../core/config/read-config.ts";
import type { Files, Queue, Workbooks } from "../../../core/plans/ports.ts";
import { createBucketFiles } from "../../../jobs/files/bucket-files.ts";
import { createInlineWorkbooks } from "../../../jobs/import/inline-workbooks.ts";
import type { Installation } from "./installation.ts";

export interface RequestJobs {
  forProject(config: ProjectConfig): ProjectJobs;
  close(): Promise<void>;
}

/** Opens nothing before the first call. */
export function openRequestJobs({ configs, settings, log }: Installation): RequestJobs {
  const { redisUrl, queueName, storage } = settings;
  const files = storage.kind === "bucket" ? createBucketFiles(storage) : noFiles;
  const workbooks: Workbooks = createInlineWorkbooks(files);
  let opening: Promise<Queue> | null = null;

  const queue = (): Promise<Queue> => (opening ??= open());

  /** BullMQ is much to load for those who have no jobs. */
  async function open(): Promise<Queue> {
    if (redisUrl === null) return refuse();
    const { openRedisServer } = await import("../../../jobs/queue/bullmq/redis-server.ts");
    const { createBullmqQueue } = await import("../../../jobs/queue/bullmq/bullmq-queue.ts");
    const server = await openRedisServer(redisUrl, { use: "service", log });
    const keptSecondsMax = Math.max(...configs.map(({ jobs }) => jobs.fileTtlSeconds)) * 2;
    return createBullmqQueue({ server, queueName, keptSecondsMax });
  }

  const lazy: Queue = {
    add: async (job) => (await queue()).add(job),
    find: async (id) => (await queue()).find(id),
    cancel: async (id) => (await queue()).cancel(id),
    close: async () => undefined,
  };

  return {
    forProject({ name, jobs: { fileTtlSeconds } }) {
      const newId = () => crypto.randomUUID();
      const deps = { queue: lazy, files, workbooks, newId, nowMs: Date.now };
      return createProjectJobs({ name, fileTtlSeconds }, deps);
    },
    async close() {
      const opened = await opening?.catch(() => null);
      await opened?.close();
    },
  };
}

/** A configuration whose endpoints have jobs is refused before it comes to this. */
const refuse = () => Promise.reject(new Error("No endpoint has export or import switched on"));

const noFiles: Files = {
  write: refuse,
  info: refuse,
  read: refuse,
  remove: refuse,
  list: () => {
    throw new Error("No endpoint has export or import switched on");
  },
  close: async () => undefined,
};
