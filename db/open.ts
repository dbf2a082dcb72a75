/**
 * Opens a database by its URL, on runtimes with files. A new engine is a folder in `engines/` and a line in the list
 * of registrations: here, or in `open-remote.ts` if its databases are on a server.
 */
import type { Db } from "../core/plans/db-port.ts";
import { createDb } from "./connections/db.ts";
import { withReplicas } from "./connections/replicas.ts";
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
 * The database of the URL. Opens connections on demand, so the server can be unreachable. Rejects with an Error for an
 * unknown scheme, a URL that cannot be read, and a driver that is not installed.
 */
export async function openDb(url: string, options: OpenOptions): Promise<Db> {
  const { replicas = [], ...common } = options;
  const open = async (address: string, own: OpenOptions) =>
    createDb(await openEngine(engines, address, own), own);
  const primary = await open(url, common);
  if (replicas.length === 0) return primary;
  // A replica proves nothing about the tables, and its state is logged by those who use it.
  const { onSchemaDoubt: _, log, ...ofReplicas } = common;
  const opened = await Promise.all(replicas.map((one) => open(one, ofReplicas)));
  return withReplicas(primary, opened, log);
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
  /** The default port of its server; null = its databases are files. */
  readonly port: number | null;
}

/** Each kind once. */
export const databaseKinds = (): readonly DatabaseKind[] =>
  [...new Set(engines.values())].map(({ address: { schemes, title, port } }) => ({
    scheme: schemes[0]!,
    title,
    port,
  }));

/** The faults of a database's URL and settings that are known before it is opened. */
export const databaseFaults = (url: string, settings: AddressSettings): readonly SettingFault[] =>
  faultsAt(engines, url, settings);

/** Null: the database is on no server, or no engine knows the URL. */
export const serverOf = (url: string): DatabaseServer | null =>
  registrationOf(engines, url)?.address.serverOf?.(url) ?? null;

/** Whether the data exist only in this process, where no other connection can reach them. */
export const isInMemory = (url: string): boolean =>
  registrationOf(engines, url)?.address.isInMemory?.(url) ?? false;

/** The absolute path of the database's file; null: it is not in a file. */
export function fileOf(url: string): string | null {
  const address = registrationOf(engines, url)?.address;
  if (address === undefined || address.serverOf || isInMemory(url)) return null;
  return databaseOf(url).replace(/^[^:]*:/, "");
}
