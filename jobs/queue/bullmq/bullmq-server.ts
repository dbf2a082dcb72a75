/**
 * A server that keeps BullMQ's jobs, as queue and worker see it. The connection and its checks differ between the
 * kinds of server: `redis-server.ts` and `postgres-server.ts`, of which `open-bullmq-server.ts` picks one.
 */
import { type BackendFactory, type IQueueBackend, Queue } from "bullmq";
import type { QueueCounts } from "../../../core/jobs/queue.ts";
import { withTimeout } from "../../../core/values/with-timeout.ts";

/** A server in use. It can become unreachable and reachable again. */
export interface BullmqServer {
  /** Creates the backend of a Queue or Worker of BullMQ, with its own connection to the server. */
  readonly backend: BackendFactory;
  /** Rejects while the server is unreachable. BullMQ objects that are created then would never work. */
  ready(): Promise<void>;
  /** False once the server reported that it can evict jobs. */
  keepsJobs(): boolean;
  /** To be called after the backends are closed. */
  close(): Promise<void>;
}

/** Who uses a server: the service has to answer within a second, a worker waits as long as it takes. */
export type ServerUse = "service" | "worker";

/** Results are JSON texts. */
export type ServerQueue<Data> = Queue<Data, string, string, Data, string, string, IQueueBackend>;

/** BullMQ asks for a connection, and every backend here brings its own. */
export const noConnection = { connection: {} };

/** Rejects when the server is unreachable; nothing is left of the queue then. */
export async function openServerQueue<Data>(
  { backend, ready }: BullmqServer,
  name: string,
): Promise<ServerQueue<Data>> {
  await ready();
  const options = { ...noConnection, skipMetasUpdate: true };
  const queue: ServerQueue<Data> = new Queue(name, options, backend);
  // Callers get the error anyway; without a listener the process would end.
  queue.on("error", () => undefined);
  try {
    await queue.waitUntilReady();
    return queue;
  } catch (error) {
    await queue.close().catch(() => undefined);
    throw error;
  }
}

/** How many entries are in each state. */
export async function queueCounts<Data>(queue: ServerQueue<Data>): Promise<QueueCounts> {
  const states = ["waiting", "prioritized", "active", "delayed", "completed", "failed"] as const;
  const counts = await queue.getJobCounts(...states);
  const countOf = (state: (typeof states)[number]): number => counts[state] ?? 0;
  return {
    waiting: countOf("waiting") + countOf("prioritized"),
    active: countOf("active"),
    delayed: countOf("delayed"),
    completed: countOf("completed"),
    failed: countOf("failed"),
  };
}

/** The result of a call to a possibly unreachable server: null when it fails or takes longer. Never rejects. */
export const resolvedWithin = <T>(
  call: Promise<T> | null | undefined,
  timeoutMs: number,
): Promise<T | null> =>
  withTimeout(
    Promise.resolve(call ?? null).catch(() => null),
    { timeoutMs, onTimeout: () => null },
  );
