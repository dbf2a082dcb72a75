/**
 * Opens a database by its URL. Only the engine that the scheme asks for is loaded, so that a project on SQLite needs no
 * other driver. Called by `app/wire.ts`, once per project.
 */
import { resolve } from "node:path";
import type { Db, Log } from "../core/ports.ts";
import { createDb } from "./db.ts";
import type { OpenEngine } from "./engine.ts";

export interface OpenOptions {
  readonly connectionsMax: number;
  /** 0 = none. */
  readonly statementTimeoutMs: number;
  /** How decimals and 64-bit integers are shown. */
  readonly decimals: "number" | "string";
  readonly log?: Log;
}

/** A loader per URL scheme. */
const engines: ReadonlyMap<string, () => Promise<{ open: OpenEngine }>> = new Map([
  ["postgres", () => import("./postgres/engine.ts")],
  ["postgresql", () => import("./postgres/engine.ts")],
  ["mysql", () => import("./mysql/engine.ts")],
  ["mariadb", () => import("./mysql/engine.ts")],
  ["sqlite", () => import("./sqlite/engine.ts")],
]);

/**
 * The database behind the URL. The server need not be there: connections are opened when they are wanted.
 * Rejects with an Error for an unknown scheme, an URL that cannot be read, and a driver that is not installed.
 */
export async function openDb(url: string, options: OpenOptions): Promise<Db> {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  const load = scheme === undefined ? undefined : engines.get(scheme);
  if (load === undefined) {
    const known = [...engines.keys()].map((name) => `${name}:`).join(", ");
    throw new Error(
      `Unknown kind of database ${scheme === undefined ? "URL" : `"${scheme}:"`}; known are ${known}`,
    );
  }
  const { open } = await loadEngine(scheme!, load);
  return createDb(await open(url, options), options);
}

/** Equal for addresses of the same database, whoever the user is and whatever the options are. */
export function databaseOf(url: string): string {
  const [, scheme = "", path = ""] =
    /^([a-z][a-z0-9+.-]*):(?:\/\/(?:[^@/]*@)?)?([^?]*)/i.exec(url) ?? [];
  if (scheme.toLowerCase() === "sqlite") {
    return `sqlite:${path === ":memory:" ? path : resolve(path)}`;
  }
  const isPostgres = scheme.toLowerCase().startsWith("postgres");
  const [server = "", ...name] = path.split("/");
  const port = /:\d+$/.test(server) ? "" : isPostgres ? ":5432" : ":3306";
  // The name as it is: two databases may differ in case alone, and must not share answers.
  return `${isPostgres ? "postgres" : "mysql"}:${server.toLowerCase()}${port}/${name.join("/")}`;
}

/** Whether the data live in this process, where no other connection finds them. */
export const isInMemory = (url: string): boolean => databaseOf(url) === "sqlite::memory:";

async function loadEngine(
  scheme: string,
  load: () => Promise<{ open: OpenEngine }>,
): Promise<{ open: OpenEngine }> {
  try {
    return await load();
  } catch (error) {
    throw new Error(`The driver for ${scheme}: databases cannot be loaded; is it installed?`, {
      cause: error,
    });
  }
}
