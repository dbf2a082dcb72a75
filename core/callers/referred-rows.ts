/** What a statement writes into foreign keys, to be compared with the rows that these may reference. */
import { comparand } from "../query/comparisons.ts";
import { findRows, scalarOf } from "../query/find-rows.ts";
import {
  allOf,
  type Assignment,
  type Condition,
  equals,
  type Insert,
  sourceOf,
  type UpdateMany,
  type UpdateOne,
} from "../query/statement.ts";
import { limits } from "../values/limits.ts";
import type { Column, Table } from "../values/types/column.ts";
import { type Key, keyText, type KeyValue } from "../values/types/key.ts";
import type { Row } from "../values/row.ts";
import type { Scalar } from "../values/scalar.ts";
import type { Referred, Scope } from "./scope.ts";

/** Columns that a statement writes, and their values. */
export interface WrittenValues {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Scalar[])[];
}

export function assigned(set: readonly Assignment[]): WrittenValues {
  const given = set.filter((one) => one.kind === "set");
  return { columns: given.map(assignedColumn), rows: [given.map(({ value }) => value)] };
}

/** What an update of many rows writes into each of them. */
export function assignedEach({ columns, rows, set }: UpdateMany): WrittenValues {
  const same = assigned(set);
  return {
    columns: [...columns, ...same.columns],
    rows: rows.map(({ values }) => [...values, ...same.rows.flat()]),
  };
}

/** The rows that a foreign key may reference for this caller, and the referenced columns. */
export interface ReferredRows extends Referred {
  readonly keys: readonly Column[];
}

interface Reference {
  readonly columns: readonly string[];
  readonly target: ReferredRows;
}

/** The foreign keys of the table that may not reference every row. */
export function limitedReferences({ foreignKeys }: Table, scope: Scope): readonly Reference[] {
  if (foreignKeys.length === 0) return none;
  return foreignKeys.flatMap((key) => {
    const referred = scope.referredRows(key);
    if (referred === null) return [];
    const keys = key.referencedColumns.map((name) => referred.table.columns.get(name));
    return keys.every((column) => column !== undefined)
      ? [{ columns: key.columns, target: { ...referred, keys } }]
      : [];
  });
}

const none: readonly Reference[] = [];

/**
 * Columns of limited foreign keys that the database fills in by itself. What it stored is read back, so a table without
 * a key has none.
 */
export function filledReferences({ table, key, columns }: Insert, scope: Scope): Column[] {
  if (key.length === 0) return [];
  const given = new Set(columns.map(({ name }) => name));
  const names = limitedReferences(table, scope).flatMap(({ columns: own }) => own);
  return [...new Set(names)]
    .map((name) => table.columns.get(name)!)
    .filter(({ name, hasDefault }) => hasDefault && !given.has(name));
}

/** What is written, and what was stored in further columns of the same rows. */
export const withStored = (
  { columns, rows }: WrittenValues,
  more: readonly Column[],
  stored: readonly Row[],
): WrittenValues => ({
  columns: [...columns, ...more],
  rows: rows.map((values, at) => [...values, ...more.map((one) => scalarOf(one, stored[at]!))]),
});

/** The keys of new rows. */
export function storedKeys({ key, columns, rows }: Insert, stored: readonly Row[]): KeyValue[] {
  const places = key.map((column) => columns.indexOf(column));
  return stored.map((row, index) =>
    key.map((column, part) => {
      const at = places[part]!;
      return at >= 0 ? rows[index]![at]! : comparand(column, row[column.name]);
    }),
  );
}

/** Records that a statement writes. */
export interface Changed {
  readonly table: Table;
  readonly key: Key;
  readonly keys: readonly KeyValue[];
}

/**
 * What is written to each record, with what it stores in the other columns of foreign keys of which only a part is
 * written. The records stay locked, so that this does not change meanwhile.
 */
export async function withOtherParts(
  queries: Parameters<typeof findRows>[0],
  { table, key, keys, scope }: Changed & { readonly scope: Scope },
  written: WrittenValues,
): Promise<WrittenValues> {
  const isWritten = (name: string): boolean => written.columns.some((one) => one.name === name);
  const names = limitedReferences(table, scope).flatMap(({ columns }) =>
    columns.some(isWritten) ? columns.filter((name) => !isWritten(name)) : [],
  );
  if (names.length === 0) return written;
  const columns = [...new Set(names)].map((name) => table.columns.get(name)!);
  const search = { source: sourceOf(table), by: key, columns, lock: true };
  const stored = await findRows(queries, search, keys);
  const rows = written.rows.flatMap((values, at) => {
    const [row] = stored.get(keyText(keys[at]!)) ?? [];
    return row ? [[...values, ...columns.map((column) => scalarOf(column, row))]] : [];
  });
  return { columns: [...written.columns, ...columns], rows };
}

const tupleText = (values: readonly Scalar[]): string => values.map(String).join("\0");

/** The different values that are written into the columns; none unless all of the columns are written. */
export function tuplesOf(
  { columns, rows }: WrittenValues,
  names: readonly string[],
): readonly (readonly Scalar[])[] {
  const places = names.map((name) => columns.findIndex((column) => column.name === name));
  if (places.includes(-1)) return [];
  const tuples = rows.map((row) => places.map((place) => row[place] ?? null));
  return [...new Map(tuples.map((values) => [tupleText(values), values])).values()];
}

/** Without the self-references to rows of the same statement, which are not stored yet. */
export function withoutOwn(
  tuples: readonly (readonly Scalar[])[],
  { keys }: ReferredRows,
  written: WrittenValues,
): readonly (readonly Scalar[])[] {
  const names = keys.map(({ name }) => name);
  const own = new Set(tuplesOf(written, names).map(tupleText));
  return tuples.filter((values) => !own.has(tupleText(values)));
}

/** Whether each value references a row. `count`: of the rows that the caller may reference. */
export async function haveAllRows(
  tuples: readonly (readonly Scalar[])[],
  { keys }: Pick<ReferredRows, "keys">,
  count: (where: Condition) => Promise<number>,
): Promise<boolean> {
  const [key] = keys;
  for (let at = 0; at < tuples.length && keys.length === 1; at += limits.inValuesMax) {
    const some = tuples.slice(at, at + limits.inValuesMax);
    const values = some.map(([value]) => value!);
    if ((await count({ kind: "in", column: key!, values, negated: false })) < values.length)
      return haveRowsEach(some, keys, count);
  }
  return keys.length === 1 || haveRowsEach(tuples, keys, count);
}

/** Two values may reference one row when the database ignores case. Then there are fewer rows than values. */
async function haveRowsEach(
  tuples: readonly (readonly Scalar[])[],
  keys: readonly Column[],
  count: (where: Condition) => Promise<number>,
): Promise<boolean> {
  for (const values of tuples) {
    const where = allOf(...keys.map((column, at) => equals(column, values[at]!)));
    if ((await count(where!)) === 0) return false;
  }
  return true;
}

export const assignedColumn = ({ column }: Assignment): Column => column;

/** The key of the row after the update. */
export const keyAfter = ({ key, keyValue, set }: UpdateOne): KeyValue =>
  key.map((column, at) => {
    const change = set.find((one) => one.kind === "set" && one.column === column);
    return change?.kind === "set" ? change.value : keyValue[at]!;
  });

/** Whether a change of these columns can move a row out of the scope. */
export function mayMove(columns: readonly Column[], within: Condition): boolean {
  if ("members" in within) return within.members.some((member) => mayMove(columns, member));
  const deciding = decidingColumns(within);
  return columns.some(({ name }) => deciding.some((one) => one.name === name));
}

function decidingColumns(within: Exclude<Condition, { kind: "and" | "or" }>): readonly Column[] {
  if (within.kind === "quantified") return within.steps[0]!.on.map(({ left }) => left);
  return within.kind === "fulltext" ? within.search.index.columns : [within.column];
}
