/**
 * PostgreSQL as the server of the jobs, for installations without Redis: BullMQ keeps them in tables of its own, in the schema `bullmq`, which is made
 * at the first start.
 */
import { setTimeout as pause } from "node:timers/promises";
import {
  PostgresConnection,
  PostgresQueueBackend,
  SchemaVersionMismatchError,
  UnsupportedPostgresVersionError,
} from "bullmq";
import { limits } from "../../../core/values/limits.ts";
import type { Log } from "../../../core/plans/ports.ts";
import { type BullmqServer, resolvedWithin, type ServerUse } from "./bullmq-server.ts";

/** Milliseconds for opening a connection, or waiting for a free one, and for one call. */
const timeouts: Readonly<Record<ServerUse, { connectMs: number; callMs: number }>> = {
  service: { connectMs: limits.jobTimeoutMs, callMs: limits.jobTimeoutMs },
  worker: { connectMs: limits.connectTimeoutMs, callMs: limits.connectTimeoutMs },
};

/** Connections of one Queue or Worker; a Worker has one more, on which it hears of new jobs. */
const connectionsMax = 4;

/** A database that is silent is not waited for. */
const closeTimeoutMs = 500;

/** The tables may take a moment longer to be made than a call has. */
const migrationTimeoutMs = 30_000;

/** Rejects with an Error when the database is there and cannot keep jobs. Resolves also while it is away. */
export async function openDatabaseServer(
  address: string,
  { use, log }: { use: ServerUse; log: Log },
): Promise<BullmqServer> {
  const { connectMs, callMs } = timeouts[use];
  const common = { ...addressOf(address), connectionTimeoutMillis: connectMs };
  const connections = new Set<PostgresConnection>();
  let preparing: Promise<void> | null = null;

  /** Makes the tables where they are not there yet, once. */
  function ready(): Promise<void> {
    preparing ??= migrate({ ...common, query_timeout: migrationTimeoutMs }).catch(
      (error: unknown) => {
        preparing = null;
        throw error;
      },
    );
    return preparing;
  }

  await ready().catch((error: unknown) => {
    if (!isAway(error)) throw new Error(refusalOf(error));
    // A worker says so itself.
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

/** BullMQ's own, for workers that have to be left alone with a database in trouble. */
class Backend extends PostgresQueueBackend {
  /** Seconds. By itself BullMQ would wait for an hour where the call that a job has come was lost. */
  override get maximumBlockTimeout(): number {
    return 10;
  }

  /** By itself a Worker would ask again at once, for as long as the database refuses to answer. */
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
 * Whether the database may be there a little later. What it says itself has a severity, and of that: broken connections (08), shutting down or starting
 * up (57P), no room for one more connection (53).
 */
function isAway(error: unknown): boolean {
  if (error instanceof SchemaVersionMismatchError) return false;
  if (error instanceof UnsupportedPostgresVersionError) return false;
  const { severity, code = "" } = error as { severity?: string; code?: string };
  return severity === undefined || /^(08|57P|53)/.test(code);
}

const refusalOf = (error: unknown): string =>
  `The database of JOBS_DATABASE_URL cannot keep jobs: ${(error as Error).message}`;
