/** The database that `rowgate init` reads. Its faults are reported in the same sentences as at the start. */
import { isUnavailable } from "../../../core/values/errors.ts";
import type { Db } from "../../../core/plans/db-port.ts";
import { databaseFaults, openDb } from "../../../db/open.ts";
import { readText } from "../settings/config-files.ts";
import { createLog } from "../observing/log.ts";

/** Rejects with an Error that says what is wrong with the address or the database, and what to do. */
export async function openForInit(url: string): Promise<Db> {
  const [fault] = databaseFaults(url, { preparedStatements: true });
  if (fault) throw new Error(`found ${fault.found}, expected ${fault.expected}`);
  const db = await openDb(url, {
    connectionsMax: 4,
    statementTimeoutMs: 30_000,
    decimals: "number",
    log: createLog("silent"),
    readFile: readText,
    isOnlyLookedAt: true,
  });
  try {
    await withPlainFault(db, () => db.catalog.names());
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** Rejects as `work` does; a database out of reach is an Error with reason and remedy. */
export async function withPlainFault<T>(db: Db, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    const { reason, remedy } = db.faultOf(error.cause ?? error);
    // There is no project.json yet whose database.url could be corrected.
    const sentence = `${reason}; ${remedy}`.replaceAll("database.url", "the address");
    throw new Error(sentence, { cause: error });
  }
}
