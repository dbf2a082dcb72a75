/** Opens the queue of non-blocking hook calls: on the server of the jobs, or in files of this process. */
import type { DeadCalls, HookQueue, MakeCall } from "../../../core/workflow/hook-queue.ts";
import type { Log } from "../../../core/plans/log-port.ts";
import type { Files } from "../../../core/plans/files-port.ts";
import { openBullmqServer, type QueueServerUrls } from "../bullmq/open-bullmq-server.ts";
import { createLocalDeadCalls } from "../local/dead-call-files.ts";
import { createLocalHooks } from "../local/local-hooks.ts";
import { type ShownQueue, shownQueue } from "./shown-queue.ts";

/** Where the calls are kept. */
export interface HookQueuePlace extends QueueServerUrls {
  readonly queueName: string;
  /** Used where there is no server. */
  openFiles(): Promise<Files>;
  readonly log: Log;
}

/** `shown`: null if calls are in files. Rejects with an Error when the server can evict jobs, or files are unusable. */
export async function openHookQueue(
  { queueName, openFiles, log, ...urls }: HookQueuePlace,
  makeCall: MakeCall,
): Promise<{ readonly queue: HookQueue; readonly shown: ShownQueue | null }> {
  const adding = await openBullmqServer(urls, { use: "service", log });
  if (adding === null) {
    const files = await openFiles();
    return { queue: createLocalHooks({ files, makeCall, log }), shown: null };
  }
  const taking = (await openBullmqServer(urls, { use: "worker", log }))!;
  const { createBullmqHookQueue } = await import("../bullmq/bullmq-hook-queue.ts");
  const queue = createBullmqHookQueue({ adding, taking, queueName, makeCall, log });
  return { queue, shown: shownQueue(adding, queueName) };
}

/** The calls that were given up. Rejects when the queue is unreachable. */
export async function openDeadCalls({
  queueName,
  openFiles,
  log,
  ...urls
}: HookQueuePlace): Promise<DeadCalls> {
  const server = await openBullmqServer(urls, { use: "service", log });
  if (server === null) return createLocalDeadCalls(await openFiles());
  const { openBullmqDeadCalls } = await import("../bullmq/bullmq-hook-queue.ts");
  return openBullmqDeadCalls(server, queueName).catch(async (error: unknown) => {
    await server.close();
    const place = urls.redisUrl === null ? "JOBS_DATABASE_URL" : "REDIS_URL";
    throw new Error(`The hook queue of ${place} is not reachable`, { cause: error });
  });
}
