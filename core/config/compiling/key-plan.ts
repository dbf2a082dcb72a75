/** What identifies the rows of a table: the configured key, else the database's, else a unique first field. */
import type { Columns, Table, WriteKind } from "../../values/types/column.ts";
import type { Key } from "../../values/types/key.ts";
import type { Path } from "../reading/faults.ts";
import type { Survey } from "./survey.ts";

export interface Keys {
  /** Names of the columns that identify a record, from the configuration or the database; empty = none. */
  readonly names: readonly string[];
  /** Names of the columns that are known to identify rows; empty = none. */
  readonly ofLists: readonly string[];
}

/** The keys of what the endpoint reads and writes; `table` null: it has none, so a configured key is not checked. */
export function keysOf({ payload }: Survey, table: Table | null): Keys {
  const ofDatabase = table === null ? [] : databaseKey(table, payload.fieldName?.[0]);
  if (payload.primaryKey === undefined) return { names: ofDatabase, ofLists: ofDatabase };
  const names = namesOf(payload.primaryKey);
  const isTrusted = table?.kind !== "table" || nameOneRow(table, names);
  return { names, ofLists: isTrusted ? names : ofDatabase };
}

/** The columns of a configured key, each once. */
const namesOf = (key: string | readonly string[]): readonly string[] => [
  ...new Set(typeof key === "string" ? [key] : key),
];

/** The columns of a configured key that are there; a fault for each other one. `of` names their owner. */
export function keyColumns(
  survey: Survey,
  key: string | readonly string[],
  { columns, path, of }: { columns: Columns; path: Path; of: string },
): Key {
  if (typeof key !== "string") return [...new Set(survey.columns(key, columns, path, of))];
  const only = survey.column(key, columns, path, of);
  return only === null ? [] : [only];
}

/** Whether the database deletes the rows of the child whose columns `names` hold the `referenced` of a deleted row. */
export async function goesWith(
  { findTable, referencesTo }: Pick<Survey, "findTable" | "referencesTo">,
  child: Table,
  {
    names,
    parent,
    referenced,
  }: { names: readonly string[]; parent: Table; referenced: readonly string[] },
): Promise<boolean> {
  for (const key of await referencesTo(parent)) {
    if (key.onDelete !== "cascade" || !isList(key.columns, names)) continue;
    const pointed = key.referencedColumns.length > 0 ? key.referencedColumns : parent.primaryKey;
    if (!isList(pointed, referenced)) continue;
    if ((await findTable(key.table))?.identity === child.identity) return true;
  }
  return false;
}

export const isList = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((name, at) => name === other[at]);

/** The columns with these names, or empty unless all of them exist. */
export function keyAmong(columns: Columns, names: readonly string[]): Key {
  const found = names.flatMap((name) => columns.get(name) ?? []);
  return found.length === names.length ? found : [];
}

export const byName = (key: Key): Columns => new Map(key.map((column) => [column.name, column]));

/** Whether the database lets no two rows have the same values in the columns, nor any row lack one of them. */
export function nameOneRow(table: Table, names: readonly string[]): boolean {
  const { primaryKey, columns } = table;
  // A primary key counts as never null, even if the engine reports nullable columns.
  const isWhole = primaryKey.every((name) => names.includes(name));
  return (
    names.length > 0 &&
    areUnique(table, names) &&
    names.every(
      (name) => (isWhole && primaryKey.includes(name)) || columns.get(name)?.nullable === false,
    )
  );
}

export const areUnique = ({ primaryKey, unique }: Table, names: readonly string[]): boolean =>
  [primaryKey, ...unique.map(({ columns }) => columns)].some(
    (columns) => columns.length > 0 && columns.every((name) => names.includes(name)),
  );

function databaseKey(table: Table, firstField: string | undefined): readonly string[] {
  if (table.primaryKey.length > 0) return table.primaryKey;
  const first = firstField ?? table.columns.keys().next().value;
  return first !== undefined && nameOneRow(table, [first]) ? [first] : [];
}

const writes: readonly WriteKind[] = ["insert", "update", "delete"];

/** Whether the database carries out any INSERT, UPDATE or DELETE on the table or view. */
export const takesWrites = ({ refusals = [] }: Pick<Table, "refusals">): boolean =>
  writes.some(
    (statement) =>
      !refusals.some((refusal) => refusal.statement === statement && refusal.columns === null),
  );
