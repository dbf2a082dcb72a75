/** What tells the rows of a table apart: the configured key, else the database's own, else a first field that is one. */
import type { Column, Columns, Table } from "../values/column.ts";
import type { Survey } from "./survey.ts";

export interface Keys {
  /** The one column that names a record, as the configuration or the database says; null = none, or several. */
  readonly name: string | null;
  /** Names of the columns that are known to tell rows apart; empty = none are. */
  readonly ofLists: readonly string[];
}

/** The keys of what the endpoint reads and writes; `table` null: it has no table, and nobody can hold a named key against one. */
export function keysOf({ payload }: Survey, table: Table | null): Keys {
  const { primaryKey: named } = payload;
  const ofDatabase = table === null ? [] : databaseKey(table, payload.fieldName?.[0]);
  if (named === undefined)
    return { name: ofDatabase.length === 1 ? ofDatabase[0]! : null, ofLists: ofDatabase };
  const isTrusted = table?.kind !== "table" || namesOneRow(table, named);
  return { name: named, ofLists: isTrusted ? [named] : ofDatabase };
}

/** The columns of these names, where all of them are there. */
export function keyAmong(columns: Columns, names: readonly string[]): readonly Column[] {
  const found = names.flatMap((name) => columns.get(name) ?? []);
  return found.length === names.length ? found : [];
}

/** Whether the database lets no two rows have the same value in the column, nor any row have none. */
export const namesOneRow = (table: Table, name: string): boolean =>
  (table.primaryKey.length === 1 && table.primaryKey[0] === name) ||
  (table.columns.get(name)?.nullable === false && isUnique(table, name));

export const isUnique = ({ primaryKey, unique }: Table, name: string): boolean =>
  [primaryKey, ...unique.map(({ columns }) => columns)].some(
    (columns) => columns.length === 1 && columns[0] === name,
  );

function databaseKey(table: Table, firstField: string | undefined): readonly string[] {
  if (table.primaryKey.length > 0) return table.primaryKey;
  const first = firstField ?? table.columns.keys().next().value;
  return first !== undefined && namesOneRow(table, first) ? [first] : [];
}
