/**
 * Opens a database by its URL, on runtimes with files. A new engine is its folder in `engines/`, and a line in the list of registrations: here, or
 * in `open-remote.ts` if its databases are on a server.
 */
import type { Db } from "../core/plans/ports.ts";
import { createDb } from "./connections/db.ts";
import { address as sqlite } from "./engines/sqlite/address.ts";
import type { AddressSettings, DatabaseServer, SettingFault } from "./engines/database-address.ts";
import { databaseAt, enginesOf, faultsAt, openEngine, registrationOf } from "./open-engine.ts";
import { type OpenOptions, remoteRegistrations } from "./open-remote.ts";

export type { OpenOptions };

const engines = enginesOf([
  ...remoteRegistrations,
  { address: sqlite, load: () => import("./engines/sqlite/engine.ts") },
]);

/**
 * The database behind the URL. The server may be unreachable: connections are opened on demand. Rejects with an Error
 * for an unknown scheme, an URL that cannot be read, and a driver that is not installed.
 */
export async function openDb(url: string, options: OpenOptions): Promise<Db> {
  return createDb(await openEngine(engines, url, options), options);
}

/**
 * Equal for addresses of the same database, regardless of user and options; empty for an address that `openDb` refuses.
 */
export const databaseOf = (url: string): string => databaseAt(engines, url);

/** A kind of database that can be opened. */
export interface DatabaseKind {
  /** Of its URLs. */
  readonly scheme: string;
  readonly title: string;
  /** Where its server listens if the URL does not say; null = its databases are files. */
  readonly port: number | null;
}

/** Each kind once. */
export const databaseKinds = (): readonly DatabaseKind[] =>
  [...new Set(engines.values())].map(({ address: { schemes, title, port } }) => ({
    scheme: schemes[0]!,
    title,
    port,
  }));

/** What can be seen to be wrong with a database's URL and settings before it is opened. */
export const databaseFaults = (url: string, settings: AddressSettings): readonly SettingFault[] =>
  faultsAt(engines, url, settings);

/** Null: the database is on no server, or no engine knows the URL. */
export const serverOf = (url: string): DatabaseServer | null =>
  registrationOf(engines, url)?.address.serverOf?.(url) ?? null;

/** Whether the data exist only in this process, where no other connection can reach them. */
export const isInMemory = (url: string): boolean =>
  registrationOf(engines, url)?.address.isInMemory?.(url) ?? false;
