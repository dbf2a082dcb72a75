/**
 * Starts exports and imports on runtimes without long-lived processes: adds them to BullMQ's queue in Redis over a
 * connection of the request, and a `rowgate worker` elsewhere runs them. Their files are in a bucket.
 */
import { createProjectJobs, type ProjectJobs } from "../../../core/jobs/jobs.ts";
import type { ProjectConfig } from "../../../core/config/read-config.ts";
import type { Files, Queue } from "../../../core/plans/ports.ts";
import type { Workbooks } from "../../../core/plans/workbooks-port.ts";
import { createBucketFiles } from "../../../jobs/files/bucket-files.ts";
import { createInlineWorkbooks } from "../../../jobs/import/inline-workbooks.ts";
import type { Installation } from "./installation.ts";

export interface RequestJobs {
  forProject(config: ProjectConfig): ProjectJobs;
  close(): Promise<void>;
}

/** Opens no connection before the first call. */
export function openRequestJobs({
  configs,
  settings,
  observation,
  log,
}: Installation): RequestJobs {
  const { redisUrl, queueName, storage } = settings;
  const files = storage.kind === "bucket" ? createBucketFiles(storage) : noFiles;
  const workbooks: Workbooks = createInlineWorkbooks(files);
  let opening: Promise<Queue> | null = null;

  const openOnce = (): Promise<Queue> => (opening ??= open());

  /** BullMQ is large, so it is loaded only when there are jobs. */
  async function open(): Promise<Queue> {
    if (redisUrl === null) return refuse();
    const { openRedisServer } = await import("../../../jobs/queue/bullmq/redis-server.ts");
    const { createBullmqQueue } = await import("../../../jobs/queue/bullmq/bullmq-queue.ts");
    const server = await openRedisServer(redisUrl, { use: "service", log });
    const keptSecondsMax = Math.max(...configs.map(({ jobs }) => jobs.fileTtlSeconds)) * 2;
    return createBullmqQueue({ server, queueName, keptSecondsMax: () => keptSecondsMax });
  }

  const lazy: Queue = {
    add: async (job) => (await openOnce()).add(job),
    find: async (id) => (await openOnce()).find(id),
    cancel: async (id) => (await openOnce()).cancel(id),
    counts: async () => (await openOnce()).counts(),
    close: async () => undefined,
  };

  return {
    forProject({ name, jobs: { fileTtlSeconds } }) {
      const newId = () => crypto.randomUUID();
      const queue = observation.queue(lazy);
      const deps = { queue, files, workbooks, newId, nowMs: Date.now };
      return createProjectJobs({ name, fileTtlSeconds }, deps);
    },
    async close() {
      const opened = await opening?.catch(() => null);
      await opened?.close();
    },
  };
}

/** Never called for a valid configuration: one with jobs but without a queue is refused at start. */
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
