/** Connects to the server that keeps the jobs, by REDIS_URL or JOBS_DATABASE_URL. */
import type { Log } from "../../../core/plans/log-port.ts";
import type { BullmqServer, ServerUse } from "./bullmq-server.ts";

/** Addresses of servers; null where there is none. */
export interface QueueServerUrls {
  readonly redisUrl: string | null;
  readonly jobsDatabaseUrl: string | null;
}

/** Null without an address: jobs stay in the process. Rejects with an Error if a reachable server must not be used. */
export async function openBullmqServer(
  { redisUrl, jobsDatabaseUrl }: QueueServerUrls,
  options: { use: ServerUse; log: Log },
): Promise<BullmqServer | null> {
  if (redisUrl !== null) {
    const { openRedisServer } = await import("./redis-server.ts");
    return openRedisServer(redisUrl, options);
  }
  if (jobsDatabaseUrl !== null) {
    const { openDatabaseServer } = await import("./postgres-server.ts");
    return openDatabaseServer(jobsDatabaseUrl, options);
  }
  return null;
}
