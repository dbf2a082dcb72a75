/**
 * Opens a database by its URL. Only the engine that the scheme asks for is loaded, so that a project on SQLite needs no
 * other driver. Called by `app/start/wire.ts`, once per project.
 */
import { resolve } from "node:path";
import type { Db } from "../core/plans/ports.ts";
import { createDb } from "./connections/db.ts";
import {
  type Engines,
  openEngine,
  type OpenOptions,
  remoteDatabaseOf,
  remoteEngines,
} from "./open-remote.ts";

export type { OpenOptions };

const engines: Engines = new Map([
  ...remoteEngines,
  ["sqlite", () => import("./engines/sqlite/engine.ts")],
]);

/**
 * The database behind the URL. The server need not be there: connections are opened when they are wanted.
 * Rejects with an Error for an unknown scheme, an URL that cannot be read, and a driver that is not installed.
 */
export async function openDb(url: string, options: OpenOptions): Promise<Db> {
  return createDb(await openEngine(engines, url, options), options);
}

/** Equal for addresses of the same database, whoever the user is and whatever the options are. */
export function databaseOf(url: string): string {
  const path = /^sqlite:(?:\/\/(?:[^@/]*@)?)?([^?]*)/i.exec(url)?.[1];
  if (path === undefined) return remoteDatabaseOf(url);
  return `sqlite:${path === ":memory:" ? path : resolve(path)}`;
}

/** Whether the data live in this process, where no other connection finds them. */
export const isInMemory = (url: string): boolean => databaseOf(url) === "sqlite::memory:";
