/**
 * Stores sets of records with few statements: one INSERT or UPDATE for all that set the same columns. Imports and bulk
 * requests use it for records that no handler has to see.
 */
import type { Queries } from "../query/session.ts";
import type { Assignment } from "../query/statement.ts";
import type { InsertPlan } from "../plans/write-plan.ts";
import type { Row } from "../values/row.ts";
import { type Scalar, lengthOf } from "../values/scalar.ts";
import type { Column, Table } from "../values/types/column.ts";
import type { KeyValue } from "../values/types/key.ts";
import { limits } from "../values/limits.ts";
import { parentsFirst } from "./parents-first.ts";

/** What is set of a record. */
interface Setting {
  readonly values: ReadonlyMap<Column, Scalar>;
}

interface Grouping {
  /** The columns that a record can set, in the order of its values. */
  readonly among: readonly Column[];
  /** Of these, what a record does not set is null. */
  readonly optional?: ReadonlySet<Column>;
}

interface Inserting extends Grouping, Pick<InsertPlan, "table" | "key"> {
  /** Values that are the same for all records. */
  readonly same?: ReadonlyMap<Column, Scalar>;
  readonly returning: readonly Column[];
}

/** The stored rows, in the order of the records. */
export async function insertSet(
  queries: Queries,
  records: readonly Setting[],
  { table, key, among, optional, same = new Map(), returning }: Inserting,
): Promise<Row[]> {
  const stored: Row[] = [];
  const grouping = { among, ...(optional && { optional }) };
  for (const set of insertedTogether(records, grouping, table)) {
    const some = set.map((place) => records[place]!);
    for (const { places, columns, values } of grouped(some, grouping)) {
      if (same.size > 0) for (const row of values) row.push(...same.values());
      const rows = await queries.insert({
        kind: "insert",
        table,
        key,
        columns: [...columns, ...same.keys()],
        rows: values,
        returning,
      });
      for (const [at, row] of rows.entries()) stored[set[places[at]!]!] = row;
    }
  }
  return stored;
}

/** Places of records in sets: one that refers to a record of another statement is in a later set than that one. */
function insertedTogether(
  records: readonly Setting[],
  grouping: Grouping,
  table: Table,
): number[][] {
  const related = parentsFirst(records, table);
  if (related === null) return [[...records.keys()]];
  const sets: number[][] = [[]];
  /** Of the records of the last set. */
  const shapes = new Map<number, string>();
  for (const place of related.order) {
    const shape = shapeOf(records[place]!, grouping);
    if (related.parents[place]!.some((parent) => (shapes.get(parent) ?? shape) !== shape)) {
      sets.push([]);
      shapes.clear();
    }
    sets.at(-1)!.push(place);
    shapes.set(place, shape);
  }
  return sets;
}

interface Updating extends Grouping, Pick<InsertPlan, "table" | "key"> {
  /** Changes that are the same for all records. */
  readonly set: readonly Assignment[];
}

/** Resolves with the number of records that were there. Each key occurs once. */
export async function updateSet(
  queries: Queries,
  records: readonly (Setting & { readonly key: KeyValue })[],
  { table, key, among, set }: Updating,
): Promise<number> {
  let matched = 0;
  for (const { items, columns, values } of grouped(records, { among })) {
    if (columns.length === 0 && set.length === 0) {
      matched += items.length;
      continue;
    }
    matched += await queries.updateMany({
      kind: "updateMany",
      table,
      key,
      columns,
      rows: items.map((one, at) => ({ keyValue: one.key, values: values[at]! })),
      set,
      guard: null,
      returning: [],
    });
  }
  return matched;
}

/** Records that set the same columns. */
interface Group<T> {
  readonly items: T[];
  /** Of each item, in the list that was given. */
  readonly places: number[];
  readonly columns: readonly Column[];
  /** Of each item, by column. */
  readonly values: Scalar[][];
  /** Of all values, as `lengthOf` measures it. */
  length: number;
}

/**
 * Groups by the columns that a record lacks, in any order. Otherwise, records without values in different places would
 * need many short statements, each printed again (with five such columns, an import took a third longer). A group is
 * limited in size, because MySQL and MariaDB refuse larger statements (`max_allowed_packet`).
 */
function grouped<T extends Setting>(items: readonly T[], grouping: Grouping): Group<T>[] {
  const { among, optional } = grouping;
  const all: Group<T>[] = [];
  const groups = new Map<string, Group<T>>();
  for (const [place, item] of items.entries()) {
    const values: Scalar[] = [];
    let shape = "";
    for (const column of among) {
      const value = item.values.get(column);
      if (value !== undefined) values.push(value);
      else if (optional?.has(column)) values.push(null);
      else shape += nameIn(column);
    }
    const length = lengthOf(values);
    let group = groups.get(shape);
    if (group === undefined || group.length + length > limits.statementLengthMax) {
      const columns = among.filter((column) => item.values.has(column) || optional?.has(column));
      group = { items: [], places: [], columns, values: [], length: 0 };
      groups.set(shape, group);
      all.push(group);
    }
    group.items.push(item);
    group.places.push(place);
    group.values.push(values);
    group.length += length;
  }
  return all;
}

/** The columns that the record lacks, as a text. */
function shapeOf({ values }: Setting, { among, optional }: Grouping): string {
  let without = "";
  for (const column of among)
    if (!values.has(column) && !optional?.has(column)) without += nameIn(column);
  return without;
}

const nameIn = ({ name }: Column): string => `${name}\0`;
