/** Redis as the job server: its connections, and the check that it does not evict jobs. */
import { createRedisBackend, type QueueOptions } from "bullmq";
import { Redis } from "ioredis";
import { limits } from "../../../core/values/limits.ts";
import type { Log } from "../../../core/plans/log-port.ts";
import { withTimeout } from "../../../core/values/with-timeout.ts";
import type { BullmqServer, ServerUse } from "./bullmq-server.ts";

/** All keys of a queue are in one slot of a cluster. */
export const keyPrefix = "{rowgate}";

const options = {
  connectTimeout: limits.connectTimeoutMs,
  retryStrategy: (tries: number) => Math.min(50 * 2 ** tries, 1_000),
};

/** Rejects with an Error when Redis is reachable and can evict jobs. Resolves also while Redis is unreachable. */
export async function openRedisServer(
  url: string,
  { use, log }: { use: ServerUse; log: Log },
): Promise<BullmqServer> {
  const redis = use === "service" ? connectService(url) : connectWorker(url);
  const policy = await watchPolicy(redis, log).catch((error: unknown) => {
    redis.disconnect();
    throw error;
  });
  return {
    backend(name, options, more) {
      const over: QueueOptions = { ...options, connection: redis, prefix: keyPrefix };
      return createRedisBackend(name, over, more);
    },
    async ready() {
      if (redis.status !== "ready") throw new Error("There is no connection to Redis");
    },
    keepsJobs: policy.keepsJobs,
    close: async () => redis.disconnect(),
  };
}

/** For calls within a request: fails at once when the server is unreachable, and queues nothing. */
function connectService(url: string): Redis {
  return withErrorListener(
    new Redis(url, {
      ...options,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: limits.jobTimeoutMs,
    }),
  );
}

/** For a worker: waits for the server as long as it takes. */
export const connectWorker = (url: string): Redis =>
  withErrorListener(new Redis(url, { ...options, maxRetriesPerRequest: null }));

/** Without a listener an error would end the process; the caller of a command gets the error anyway. */
function withErrorListener(redis: Redis): Redis {
  redis.on("error", () => undefined);
  return redis;
}

interface Policy {
  /** False once the server reported that it can evict jobs. */
  keepsJobs(): boolean;
}

/**
 * Checks on every connection. Rejects with an Error when the first answer shows a fault. Resolves without an answer if
 * the server is not reachable within a moment.
 */
async function watchPolicy(redis: Redis, log: Log): Promise<Policy> {
  let fault: string | null = null;
  async function checkPolicy(): Promise<void> {
    const found = faultIn(await redis.info("memory"));
    if (found !== null && fault === null) log.error({}, found);
    fault = found;
  }
  const first = redis.status === "ready" ? checkPolicy() : null;
  const looked = new Promise<void>((resolve, reject) => {
    redis.on("ready", () => void checkPolicy().then(resolve, resolve));
    first?.then(resolve, reject);
  });
  const timeoutMs = limits.connectTimeoutMs / 5;
  await withTimeout(looked, { timeoutMs, onTimeout: () => undefined });
  if (fault !== null) throw new Error(fault);
  return { keepsJobs: () => fault === null };
}

/** `info`: the server's answer to INFO memory. Null: it reports that it keeps everything, or reports nothing. */
function faultIn(info: string): string | null {
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? "noeviction";
  const isBounded = Number(/^maxmemory:(\d+)/m.exec(info)?.[1] ?? 0) > 0;
  if (policy === "noeviction" || !isBounded) return null;
  return (
    `The Redis of REDIS_URL throws data away when its memory is full (maxmemory-policy ${policy}), and jobs with it; ` +
    "set maxmemory-policy to noeviction, or take another Redis"
  );
}
