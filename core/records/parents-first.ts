/**
 * The order in which records of one table can be stored or deleted where some refer to others. MySQL checks references
 * row by row, the other databases at the end of a statement: only records that come first are there, or gone, for all
 * of them. Cascades of SQLite follow each row, too, and would take deleted records away before they are returned.
 */
import { foldedText, scalarOf } from "../query/find-rows.ts";
import type { Row } from "../values/row.ts";
import type { Scalar } from "../values/scalar.ts";
import type { Column, Table } from "../values/types/column.ts";

interface Setting {
  readonly values: ReadonlyMap<Column, Scalar>;
}

/** Records by their places in the list that was given. */
export interface ParentsFirst {
  /** Each record behind those that it refers to, as far as they do not refer to each other in a circle. */
  readonly order: readonly number[];
  /** The others that a record refers to. */
  readonly parents: readonly (readonly number[])[];
}

/** Null: no record refers to another. */
export function parentsFirst(records: readonly Setting[], table: Table): ParentsFirst | null {
  if (referencesWithin(table).length === 0) return null;
  const parents = parentsOf(records, table).map((some, at) => some.filter((one) => one !== at));
  return parents.every((some) => some.length === 0) ? null : { order: orderOf(parents), parents };
}

/** The records that a record refers to, itself included. */
function parentsOf(records: readonly Setting[], table: Table): number[][] {
  const parents: number[][] = records.map(() => []);
  for (const { columns, referencedColumns } of referencesWithin(table)) {
    const places = new Map<string, number>();
    for (const [place, record] of records.entries()) {
      const own = textOf(record, referencedColumns, table);
      if (own !== null) places.set(own, place);
    }
    for (const [place, record] of records.entries()) {
      const parent = places.get(textOf(record, columns, table) ?? "");
      if (parent !== undefined) parents[place]!.push(parent);
    }
  }
  return parents;
}

/** The columns by which rows of the table refer to others of it; those of `ends` alone if it is given. */
export function ownReferences(
  table: Table,
  ...ends: readonly ("columns" | "referencedColumns")[]
): Column[] {
  const sides = ends.length > 0 ? ends : (["columns", "referencedColumns"] as const);
  const names = referencesWithin(table).flatMap((one) => sides.flatMap((side) => one[side]));
  return [...new Set(names)].flatMap((name) => table.columns.get(name) ?? []);
}

const referencesWithin = ({ foreignKeys, identity }: Table): Table["foreignKeys"] =>
  foreignKeys.filter(({ referencedIdentity }) => referencedIdentity === identity);

export interface ChildrenFirst {
  /** Places of rows in sets: each behind all that refer to it. The last set also has those that refer in a circle. */
  readonly sets: readonly (readonly number[])[];
  /** Those that refer to themselves, and those of the last set if some refer in a circle. */
  readonly circles: readonly number[];
}

/** Of rows that have the columns of `ownReferences`. */
export function childrenFirst(rows: readonly Row[], table: Table): ChildrenFirst {
  const related = ownReferences(table);
  const records = rows.map((row) => ({
    values: new Map(related.map((column) => [column, scalarOf(column, row)])),
  }));
  const all = parentsOf(records, table);
  const circles = [...all.keys()].filter((place) => all[place]!.includes(place));
  const parents = all.map((some, place) => some.filter((parent) => parent !== place));
  const children = records.map(() => 0);
  for (const parent of parents.flat()) children[parent]! += 1;
  const sets: number[][] = [];
  for (let open = [...records.keys()]; open.length > 0;) {
    const leaves = open.filter((place) => children[place] === 0);
    if (leaves.length === 0)
      return { sets: [...sets, open], circles: [...new Set([...circles, ...open])] };
    sets.push(leaves);
    open = open.filter((place) => children[place]! > 0);
    for (const place of leaves) for (const parent of parents[place]!) children[parent]! -= 1;
  }
  return { sets, circles };
}

/** Null: one of the values is null or not known. */
function textOf({ values }: Setting, names: readonly string[], table: Table): string | null {
  const columns = names.flatMap((name) => table.columns.get(name) ?? []);
  const key = columns.map((column) => values.get(column) ?? null);
  return key.length < names.length || key.includes(null) ? null : foldedText(key, columns);
}

/** Without recursion: a chain may be as long as the list. */
function orderOf(parents: readonly (readonly number[])[]): number[] {
  const order = new Set<number>();
  const begun = new Set<number>();
  for (const first of parents.keys()) {
    const waiting = [first];
    for (let place = waiting.at(-1); place !== undefined; place = waiting.at(-1)) {
      const next = begun.has(place) ? [] : parents[place]!.filter((parent) => !begun.has(parent));
      begun.add(place);
      if (next.length > 0) waiting.push(...next);
      else order.add(waiting.pop()!);
    }
  }
  return [...order];
}
