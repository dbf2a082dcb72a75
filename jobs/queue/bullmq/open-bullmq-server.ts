/** Connects to the server that keeps the jobs, by REDIS_URL or JOBS_DATABASE_URL. */
import type { Log } from "../../../core/plans/ports.ts";
import type { BullmqServer, ServerUse } from "./bullmq-server.ts";

/** Addresses of servers; null where there is none. */
export interface BullmqServerUrls {
  readonly redisUrl: string | null;
  readonly jobsDatabaseUrl: string | null;
}

/** Null without an address: the jobs stay in the process. Rejects with an Error when the server is there and must not be given jobs. */
export async function openBullmqServer(
  { redisUrl, jobsDatabaseUrl }: BullmqServerUrls,
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
