/**
 * Databases on a server, by their URL. `open.ts` adds the one that lives in a file; runtimes without files use this alone, so that its
 * driver stays out of what they bundle.
 */
import type { DbObserver } from "../core/plans/observer.ts";
import type { Db, Log } from "../core/plans/ports.ts";
import { createDb } from "./connections/db.ts";
import {
  type AddressFault,
  type AddressSettings,
  schemeOf,
  type SettingFault,
} from "./engines/database-address.ts";
import { address as mysql } from "./engines/mysql/address.ts";
import { address as postgres } from "./engines/postgres/address.ts";
import type { TlsCertificates } from "./engines/tls.ts";
import {
  databaseAt,
  enginesOf,
  faultsAt,
  openEngine,
  type Registration,
  registrationOf,
  schemesOf,
} from "./open-engine.ts";
import { type OpenTlsSocket, openTlsSocket } from "./sockets/tls-socket.ts";
import { createCompiler } from "./statements/compile.ts";

export interface OpenOptions {
  readonly connectionsMax: number;
  /** 0 = none. */
  readonly statementTimeoutMs: number;
  /** How decimals and 64-bit integers are shown. */
  readonly decimals: "number" | "string";
  /** Whether clients see the messages of triggers; absent: true. */
  readonly triggerMessages?: boolean;
  readonly log?: Log;
  /** See `DbOptions`. */
  readonly onSchemaDoubt?: (failure: string) => void;
  /** Learns of each statement; absent: nobody does. */
  readonly observer?: DbObserver;
  /** These three: see `EngineOptions`. */
  readonly claimsSetting?: string;
  readonly preparedStatements?: boolean;
  readonly tls?: TlsCertificates;
  /** Reads a file that the URL names; absent: there are no files. */
  readonly readFile?: (path: string) => string;
  /** See `EngineOptions`. */
  readonly isOnlyLookedAt?: boolean;
  readonly openTls?: OpenTlsSocket;
}

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
 * For runtimes where a connection belongs to one request: what is known of the database, and the texts of statements, stay; each
 * call of the result gives a Db with connections of its own, to be closed with the request. Rejects as `openDb` does.
 */
export async function openPerRequest(url: string, options: OpenOptions): Promise<() => Db> {
  const engine = await openEngine(engines, url, { ...options, openTls: openTlsSocket });
  const compile = createCompiler(engine.dialect);
  return () => createDb(engine, { ...options, compile });
}

/** `databaseFaults` for databases on a server. */
export const remoteSettingFaults = (
  url: string,
  settings: AddressSettings,
): readonly SettingFault[] => faultsAt(engines, url, settings);

/** `databaseOf` for databases on a server. */
export const remoteDatabaseOf = (url: string): string => databaseAt(engines, url);
