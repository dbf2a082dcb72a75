/**
 * Samples the values of a column at low cost, however large the table is. A small table is read whole; of a large one,
 * rows at evenly spaced places, the last rows, and both ends of an index.
 */
import { quoted } from "../../../statements/quoted.ts";
import type { Database } from "better-sqlite3";

/** A column of a table of the database. */
export interface Place {
  readonly schema: string;
  readonly table: string;
  readonly column: string;
}

/** Tables up to this size are read whole. */
export const rowsMax = 20_000;
const places = 400;
const rowsAtPlace = 50;
const newestRows = 20;
/** Reading them takes a tenth of a millisecond. */
const changedRowsMax = 1_000;

/** Calls `take` with stored values, never null. */
export function sampleValues(
  database: Database,
  place: Place,
  take: (raw: unknown) => void,
): { isWhole: boolean } {
  const { column, table } = namesOf(place);
  const all = (text: string, ...params: unknown[]): unknown[] =>
    database
      .prepare<unknown[], unknown>(text)
      .pluck()
      .all(...params);
  const first = all(`select ${column} from ${table} limit ${rowsMax + 1}`);
  takeAll(first, take);
  if (first.length <= rowsMax) return { isWhole: true };
  const numbered = rowNumbers(database, table);
  if (numbered !== null) {
    const { low, high } = numbered;
    const step = Math.max(1, (high - low) / places);
    const from = database
      .prepare<unknown[], unknown>(
        `select ${column} from ${table} where rowid >= ? order by rowid limit ${rowsAtPlace}`,
      )
      .pluck();
    for (let at = low; at <= high; at += step) takeAll(from.all(BigInt(Math.floor(at))), take);
  }
  takeNewest(database, place, take);
  return { isWhole: false };
}

/**
 * Samples what another program may have written. Calls `take` with all values of a table that is small enough to read
 * before a request; else with those of the newest rows and those at both ends of an index on the column.
 */
export function sampleChanges(
  database: Database,
  place: Place,
  take: (raw: unknown) => void,
): void {
  const { column, table } = namesOf(place);
  const all = database
    .prepare<unknown[], unknown>(`select ${column} from ${table} limit ${changedRowsMax + 1}`)
    .pluck()
    .all();
  takeAll(all, take);
  if (all.length > changedRowsMax) takeNewest(database, place, take);
}

function takeNewest(database: Database, place: Place, take: (raw: unknown) => void): void {
  const { column, table } = namesOf(place);
  const read = (text: string): void =>
    takeAll(database.prepare<unknown[], unknown>(text).pluck().all(), take);
  if (hasRowNumbers(database, table))
    read(`select ${column} from ${table} order by rowid desc limit ${newestRows}`);
  if (!isIndexed(database, place)) return;
  for (const direction of ["asc", "desc"])
    read(
      `select ${column} from ${table} where ${column} is not null order by ${column} ${direction} limit 1`,
    );
}

function takeAll(values: readonly unknown[], take: (raw: unknown) => void): void {
  for (const value of values) if (value !== null) take(value);
}

function rowNumbers(database: Database, table: string): { low: number; high: number } | null {
  if (!hasRowNumbers(database, table)) return null;
  const end = (name: string) =>
    Number(database.prepare<[], unknown>(`select ${name}(rowid) from ${table}`).pluck().get());
  return { low: end("min"), high: end("max") };
}

/** Not of a table WITHOUT ROWID, nor of a virtual one that has none. */
function hasRowNumbers(database: Database, table: string): boolean {
  try {
    database.prepare(`select rowid from ${table}`);
    return true;
  } catch {
    return false;
  }
}

const isIndexed = (database: Database, { schema, table, column }: Place): boolean =>
  database
    .prepare<unknown[], unknown>(
      "select 1 from pragma_index_list(?, ?) as l, pragma_index_info(l.name, ?) as i where i.seqno = 0 and i.name = ? limit 1",
    )
    .pluck()
    .get(table, schema, schema, column) !== undefined;

const namesOf = ({ schema, table, column }: Place): { table: string; column: string } => ({
  table: `${quoted(schema)}.${quoted(table)}`,
  column: quoted(column),
});
