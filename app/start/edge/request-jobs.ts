/**
 * Starts exports and imports on runtimes without long-lived processes: adds them to BullMQ's queue in Redis over a
 * connection of the request, and a `rowgate worker` elsewhere runs them. Their files are in a bucket.
 */
import { createProjectJobs, type ProjectJobs } from "../../../core/jobs/jobs.ts";
import type { ProjectConfig } from "../../../core/config/reading/read-config.ts";
import { noFiles, noQueue } from "../../../core/jobs/no-jobs.ts";
import type { Queue } from "../../../core/jobs/queue.ts";
import { openedOnce } from "../../../core/values/opened-once.ts";
import type { Workbooks } from "../../../core/plans/workbooks-port.ts";
import { createBucketFiles } from "../../../jobs/files/bucket-files.ts";
import type { Installation } from "./installation.ts";
import { invalidFile } from "../../../core/values/errors.ts";
import type { Files } from "../../../core/plans/files-port.ts";
import { createTable } from "../../../jobs/workbook/create-table.ts";
import { InvalidWorkbook } from "../../../jobs/workbook/invalid-workbook.ts";
import { inspect } from "../../../jobs/import/inspect.ts";
import { withLocalCopy, withReadTimeout } from "../../../jobs/import/local-copy.ts";

export interface RequestJobs {
  forProject(config: ProjectConfig): ProjectJobs;
  close(): Promise<void>;
}

/** Opens no connection before the first call. */
export function openRequestJobs({
  configs,
  settings,
  observation,
  runtime,
}: Installation): RequestJobs {
  const { redisUrl, queueName, storage } = settings;
  const files = storage.kind === "bucket" ? createBucketFiles(storage) : noFiles;
  const workbooks: Workbooks = createInlineWorkbooks(files);
  const opened = openedOnce(open);

  /** BullMQ is large, so it is loaded only when there are jobs; the code of other servers stays out of bundles. */
  async function open(): Promise<Queue> {
    if (redisUrl === null) return noQueue;
    const { createBullmqQueue } = await import("../../../jobs/queue/bullmq/bullmq-queue.ts");
    const { openRedisServer } = await import("../../../jobs/queue/bullmq/redis-server.ts");
    const server = await openRedisServer(redisUrl, { use: "service", log: runtime.log });
    const keptSecondsMax = () => Math.max(...configs.map(({ jobs }) => jobs.fileTtlSeconds)) * 2;
    return createBullmqQueue({ server, queueName, keptSecondsMax });
  }

  const lazy: Queue = {
    add: async (job) => (await opened()).add(job),
    find: async (id) => (await opened()).find(id),
    cancel: async (id) => (await opened()).cancel(id),
    counts: async () => (await opened()).counts(),
    close: async () => undefined,
  };

  return {
    forProject({ name, jobs: { fileTtlSeconds } }) {
      const queue = observation.queue(lazy);
      const deps = { ...runtime, queue, files, workbooks };
      return createProjectJobs({ name, fileTtlSeconds }, deps);
    },
    async close() {
      const queue = await opened.known()?.catch(() => null);
      await queue?.close();
    },
  };
}

/**
 * `Workbooks` without threads: an upload is checked during its request, for `limits.uploadReadMs` at most and with the
 * reader's limits on everything that a file can make large.
 */
function createInlineWorkbooks(files: Files): Workbooks {
  return {
    async inspect(key, options) {
      try {
        return await withLocalCopy({ files, key }, (path) =>
          withReadTimeout(inspect({ path, ...options })),
        );
      } catch (error) {
        if (error instanceof InvalidWorkbook) throw invalidFile(error.message);
        throw error;
      }
    },
    blank: blankWorkbook,
  };
}

/** Headings only: exceljs is too large for runtimes without threads. */
const blankWorkbook: Workbooks["blank"] = async (sheetName, { columns }) => {
  const plain = columns.map(({ heading }) => ({ heading }));
  const table = createTable("xlsx", { sheetName, columns: plain });
  const pieces: Uint8Array[] = [];
  for await (const piece of table.write([])) pieces.push(piece);
  return new Uint8Array(Buffer.concat(pieces));
};
