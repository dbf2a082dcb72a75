/**
 * PostgreSQL as the job server, for installations without Redis. BullMQ keeps jobs in its own tables, in the schema
 * `bullmq`, which is created at the first start.
 */
import { setTimeout as pause } from "node:timers/promises";
import {
  PostgresConnection,
  PostgresQueueBackend,
  SchemaVersionMismatchError,
  UnsupportedPostgresVersionError,
} from "bullmq";
import { limits } from "../../../core/values/limits.ts";
import type { Log } from "../../../core/plans/log-port.ts";
import { openedOnce } from "../../../core/values/opened-once.ts";
import { type BullmqServer, resolvedWithin, type ServerUse } from "./bullmq-server.ts";

/** Milliseconds for opening a connection, or waiting for a free one, and for one call. */
const timeouts: Readonly<Record<ServerUse, { connectMs: number; callMs: number }>> = {
  service: { connectMs: limits.jobTimeoutMs, callMs: limits.jobTimeoutMs },
  worker: { connectMs: limits.connectTimeoutMs, callMs: limits.connectTimeoutMs },
};

/** Connections of one Queue or Worker; a Worker has one more, on which it hears of new jobs. */
const connectionsMax = 4;

/** How long an unresponsive database is waited for. */
const closeTimeoutMs = 500;

/** Creating the tables can take longer than other calls. */
const migrationTimeoutMs = 30_000;

/** Rejects with an Error when a reachable database cannot keep jobs. Resolves also while it is unreachable. */
export async function openDatabaseServer(
  address: string,
  { use, log }: { use: ServerUse; log: Log },
): Promise<BullmqServer> {
  const { connectMs, callMs } = timeouts[use];
  const common = { ...addressOf(address), connectionTimeoutMillis: connectMs };
  const connections = new Set<PostgresConnection>();
  /** Creates missing tables. */
  const ready = openedOnce(() => migrate({ ...common, query_timeout: migrationTimeoutMs }));

  await ready().catch((error: unknown) => {
    if (!isAway(error)) throw new Error(refusalOf(error));
    // A worker logs this itself.
    if (use === "service")
      log.warn({ err: error }, "The database of the job queue is not reachable");
  });
  return {
    backend(name, options, more) {
      const pool = { ...common, max: connectionsMax, query_timeout: callMs, keepAlive: true };
      const connection = new PostgresConnection(pool);
      connections.add(connection);
      connection.once("close", () => connections.delete(connection));
      const listener = more?.withBlockingConnection ? name : undefined;
      return new Backend(connection, name, { ...options, connection: pool }, true, listener);
    },
    ready,
    keepsJobs: () => true,
    async close() {
      const closed = Promise.allSettled([...connections].map((connection) => connection.close()));
      await resolvedWithin(closed, closeTimeoutMs);
    },
  };
}

/** `options` in an address would take the place of those with which BullMQ finds its tables. */
function addressOf(address: string): Readonly<Record<string, string>> {
  const url = new URL(address);
  const options = url.searchParams.get("options");
  url.searchParams.delete("options");
  return { connectionString: url.href, ...(options && { options }) };
}

async function migrate(options: Readonly<Record<string, string | number>>): Promise<void> {
  const connection = new PostgresConnection({ ...options, max: 1, migrate: true });
  try {
    await connection.waitUntilReady();
  } finally {
    connection.close().catch(() => undefined);
  }
}

/** BullMQ's own backend, changed for workers that must wait while their database is unavailable. */
class Backend extends PostgresQueueBackend {
  /** Seconds. BullMQ's default is an hour, which a worker would wait after a lost notification of a new job. */
  override get maximumBlockTimeout(): number {
    return 10;
  }

  /** Without the pause, a worker would retry in a tight loop while the database refuses to answer. */
  override async moveToActive(
    token: string,
    name?: string,
  ): ReturnType<PostgresQueueBackend["moveToActive"]> {
    try {
      return await super.moveToActive(token, name);
    } catch (error) {
      await pause(restMs);
      throw error;
    }
  }
}

const restMs = 500;

/**
 * Whether the failure is temporary. Errors of the server itself have a severity; of these: broken connections (08),
 * shutdown or start (57P), too many connections (53).
 */
function isAway(error: unknown): boolean {
  if (error instanceof SchemaVersionMismatchError) return false;
  if (error instanceof UnsupportedPostgresVersionError) return false;
  const { severity, code = "" } = error as { severity?: string; code?: string };
  return severity === undefined || /^(08|57P|53)/.test(code);
}

const refusalOf = (error: unknown): string =>
  `The database of JOBS_DATABASE_URL cannot keep jobs: ${(error as Error).message}`;
