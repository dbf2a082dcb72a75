/** Opens a worker of BullMQ, for jobs or hooks, and a queue for queries: both or neither. */
import { setTimeout as pause } from "node:timers/promises";
import { type IQueueBackend, type Job, WaitingError, Worker } from "bullmq";
import {
  type BullmqServer,
  noConnection,
  openServerQueue,
  type ServerQueue,
} from "./bullmq-server.ts";

/** Results are JSON texts. */
export type ServerWorker<Data> = Worker<Data, string, string, IQueueBackend>;

/** A job that the worker took. */
export interface TakenJob<Data> {
  readonly job: Job<Data, string>;
  /** Proves to the server that this worker has the job. */
  readonly token: string;
  readonly queue: ServerQueue<Data>;
}

/** What a worker of BullMQ takes, and what it does with it. */
export interface QueueWorkerOptions<Data> {
  readonly server: BullmqServer;
  readonly queueName: string;
  /** Jobs that are performed at the same time. */
  readonly atOnce: number;
  /** A worker that is silent for this long loses its jobs. */
  readonly lockMs: number;
  /** Pause between two looks for jobs that were lost in that way. */
  readonly lookMs: number;
  /** A job that was lost more often is given up. */
  readonly takeOversMax: number;
  /** Gives the result. */
  perform(taken: TakenJob<Data>): Promise<string>;
  /** Called with errors between worker and server; both try again by themselves. */
  onError(error: Error): void;
}

/** A worker, and a queue to ask. */
export interface OpenedWorker<Data> {
  readonly queue: ServerQueue<Data>;
  /** Takes nothing before `run`. */
  readonly worker: ServerWorker<Data>;
}

/** Pause after a server was unreachable, before the next try. */
export const retryMs = 1_000;

/** Takes nothing before `run`. The server has to be ready: over one that is away it would never work. */
export function createServerWorker<Data>(
  queue: ServerQueue<Data>,
  options: QueueWorkerOptions<Data>,
): ServerWorker<Data> {
  const { server, atOnce, lockMs, lookMs, takeOversMax, perform, onError } = options;
  const worker: ServerWorker<Data> = new Worker(
    options.queueName,
    (job, token) => perform({ job, token: token!, queue }),
    {
      ...noConnection,
      autorun: false,
      concurrency: atOnce,
      lockDuration: lockMs,
      stalledInterval: lookMs,
      maxStalledCount: takeOversMax,
      runRetryDelay: retryMs,
    },
    server.backend,
  );
  worker.on("error", onError);
  return worker;
}

/** How long a server is waited for. */
export interface ReachOptions {
  /** Ends the tries. */
  readonly signal?: AbortSignal;
  /** Called with the reason of the first failure. */
  onUnreachable(error: unknown): void;
}

/** Tries until the server is reachable. Rejects when the signal aborts first. */
export async function openWorkerWhenReached<Data>(
  options: QueueWorkerOptions<Data>,
  { signal, onUnreachable }: ReachOptions,
): Promise<OpenedWorker<Data>> {
  for (let tries = 1; ; tries++) {
    signal?.throwIfAborted();
    try {
      return await openWorker(options);
    } catch (error) {
      if (tries === 1) onUnreachable(error);
    }
    await pause(retryMs, undefined, signal && { signal });
  }
}

/** Rejects when the server is unreachable; nothing is left of the two then. */
async function openWorker<Data>(options: QueueWorkerOptions<Data>): Promise<OpenedWorker<Data>> {
  const queue = await openServerQueue<Data>(options.server, options.queueName);
  const worker = createServerWorker(queue, options);
  try {
    await worker.waitUntilReady();
    return { queue, worker };
  } catch (error) {
    await Promise.allSettled([worker.close(), queue.close()]);
    throw error;
  }
}

/** Returns the job to the queue. The caller has to throw the error, which tells BullMQ so. */
export async function putBack<Data>({ job, token }: TakenJob<Data>): Promise<WaitingError> {
  await job.moveToWait(token);
  return new WaitingError();
}
