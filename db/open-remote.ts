/**
 * Databases on a server, by their URL. Only the engine that the scheme asks for is loaded. `open.ts` adds the one that lives in a
 * file; runtimes without files use this alone, so that its driver stays out of what they bundle.
 */
import type { Db, Log } from "../core/plans/ports.ts";
import { createCompiler } from "./statements/compile.ts";
import { createDb } from "./connections/db.ts";
import type { OpenEngine } from "./engines/engine.ts";
import { type OpenTlsSocket, openTlsSocket } from "./sockets/tls-socket.ts";

export interface OpenOptions {
  readonly connectionsMax: number;
  /** 0 = none. */
  readonly statementTimeoutMs: number;
  /** How decimals and 64-bit integers are shown. */
  readonly decimals: "number" | "string";
  readonly log?: Log;
  readonly openTls?: OpenTlsSocket;
}

/** A loader per URL scheme. */
export type Engines = ReadonlyMap<string, () => Promise<{ open: OpenEngine }>>;

export const remoteEngines: Engines = new Map([
  ["postgres", () => import("./engines/postgres/engine.ts")],
  ["postgresql", () => import("./engines/postgres/engine.ts")],
  ["mysql", () => import("./engines/mysql/engine.ts")],
  ["mariadb", () => import("./engines/mysql/engine.ts")],
]);

/**
 * Why a database cannot be used where there are no files; null = it can. The URL itself is not told: it may hold a password. `isPooled`: the
 * address is that of a pooler which gives each transaction another session.
 */
export function remoteFault(
  url: string,
  { isPooled }: { isPooled: boolean },
): { found: string; expected: string } | null {
  const scheme = schemeOf(url);
  if (isPooled && (scheme === "mysql" || scheme === "mariadb")) {
    return {
      found: "MySQL or MariaDB behind Hyperdrive, which passes on no prepared statements",
      expected: "the address of the database itself, in a variable or a secret",
    };
  }
  if (scheme !== null && remoteEngines.has(scheme)) return isPooled ? null : tlsFault(url);
  const isLite = scheme === "sqlite" || scheme === "d1";
  return {
    found: isLite
      ? `a ${scheme}: database, which cannot do here what transactions and decimals need`
      : "the address of no database that is known here",
    expected: `a database on a server: ${schemesOf(remoteEngines)}`,
  };
}

/** Which certificates are good is the runtime's matter: those of public authorities, for the server's own name. */
function tlsFault(url: string): { found: string; expected: string } | null {
  const options = new URLSearchParams(/\?(.*)$/.exec(url)?.[1] ?? "");
  const hasOwn = ["sslrootcert", "sslcert", "sslkey"].some((name) => options.has(name));
  if (!hasOwn && !options.get("ssl")?.startsWith("{")) return null;
  return {
    found: "TLS with certificates of your own, which this runtime cannot be given",
    expected:
      "a server whose certificate is of a public authority, or PostgreSQL behind Hyperdrive",
  };
}

/**
 * For runtimes where a connection belongs to one request: what is known of the database, and the texts of statements, stay; each
 * call of the result gives a Db with connections of its own, to be closed with the request. Rejects as `openDb` does.
 */
export async function openPerRequest(url: string, options: OpenOptions): Promise<() => Db> {
  const engine = await openEngine(remoteEngines, url, { ...options, openTls: openTlsSocket });
  const compile = createCompiler(engine.dialect);
  return () => createDb(engine, { ...options, compile });
}

/** `databaseOf` for databases on a server. */
export function remoteDatabaseOf(url: string): string {
  const [, scheme = "", path = ""] =
    /^([a-z][a-z0-9+.-]*):(?:\/\/(?:[^@/]*@)?)?([^?]*)/i.exec(url) ?? [];
  const isPostgres = scheme.toLowerCase().startsWith("postgres");
  const [server = "", ...name] = path.split("/");
  const port = /:\d+$/.test(server) ? "" : isPostgres ? ":5432" : ":3306";
  // The name as it is: two databases may differ in case alone, and must not share answers.
  return `${isPostgres ? "postgres" : "mysql"}:${server.toLowerCase()}${port}/${name.join("/")}`;
}

/** Rejects with an Error for an unknown scheme, an URL that cannot be read, and a driver that is not installed. */
export async function openEngine(
  engines: Engines,
  url: string,
  options: OpenOptions,
): ReturnType<OpenEngine> {
  const scheme = schemeOf(url);
  const load = scheme === null ? undefined : engines.get(scheme);
  if (load === undefined) {
    throw new Error(
      `Unknown kind of database ${scheme === null ? "URL" : `"${scheme}:"`}; known are ${schemesOf(engines)}`,
    );
  }
  const { open } = await load().catch((error: unknown) => {
    throw new Error(`The driver for ${scheme}: databases cannot be loaded; is it installed?`, {
      cause: error,
    });
  });
  return open(url, options);
}

const schemeOf = (url: string): string | null =>
  /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase() ?? null;

const schemesOf = (engines: Engines): string =>
  [...engines.keys()].map((name) => `${name}:`).join(", ");
