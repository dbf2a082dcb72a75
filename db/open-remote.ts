/**
 * Opens databases on a server by their URL. Runtimes without files import only this file, so that SQLite's driver
 * stays out of their bundles; `open.ts` adds it.
 */
import type { Db } from "../core/plans/db-port.ts";
import { createDb, type DbOptions } from "./connections/db.ts";
import {
  type AddressFault,
  type AddressSettings,
  schemeOf,
  type SettingFault,
} from "./engines/database-address.ts";
import { address as mysql } from "./engines/mysql/address.ts";
import { address as postgres } from "./engines/postgres/address.ts";
import type { EngineOptions } from "./engines/engine.ts";
import {
  databaseAt,
  enginesOf,
  faultsAt,
  openEngine,
  type Registration,
  registrationOf,
  schemesOf,
} from "./open-engine.ts";
import { openTlsSocket } from "./sockets/tls-socket.ts";
import { createCompiler } from "./statements/compile.ts";

export type OpenOptions = EngineOptions &
  Omit<DbOptions, "compile" | "isForOneCaller"> & {
    /** Addresses of replicas, for requests that only read. */
    readonly replicas?: readonly string[];
  };

/** The engines whose databases are on a server. */
export const remoteRegistrations: readonly Registration[] = [
  { address: postgres, load: () => import("./engines/postgres/engine.ts") },
  { address: mysql, load: () => import("./engines/mysql/engine.ts") },
];

const engines = enginesOf(remoteRegistrations);

/**
 * Why a database cannot be used on a runtime without files; null = it can. `isPooled`: the address is that of a pooler
 * which gives each transaction another session.
 */
export function remoteFault(url: string, options: { isPooled: boolean }): AddressFault | null {
  const registration = registrationOf(engines, url);
  if (registration !== undefined) return registration.address.edgeFault?.(url, options) ?? null;
  const scheme = schemeOf(url);
  const isLite = scheme === "sqlite" || scheme === "d1";
  return {
    found: isLite
      ? `a ${scheme}: database, which cannot do here what transactions and decimals need`
      : "the address of no database that is known here",
    expected: `a database on a server: ${schemesOf(engines)}`,
  };
}

/**
 * For runtimes where a connection belongs to one request. Printed statements and what is known of the database are
 * kept; each call of the result returns a Db with its own connections, to be closed with the request. Rejects as
 * `openDb`.
 */
export async function openPerRequest(url: string, options: OpenOptions): Promise<() => Db> {
  const engine = await openEngine(engines, url, { ...options, openTls: openTlsSocket });
  const compile = createCompiler(engine.dialect);
  return () => createDb(engine, { ...options, compile, isForOneCaller: true });
}

/** `databaseFaults` for databases on a server; `remoteFault` tells of the others. */
export const remoteSettingFaults = (
  url: string,
  settings: AddressSettings,
): readonly SettingFault[] =>
  registrationOf(engines, url) === undefined ? [] : faultsAt(engines, url, settings);

/** `databaseOf` for databases on a server. */
export const remoteDatabaseOf = (url: string): string => databaseAt(engines, url);
