/** Conditions that find rows by their key. */
import type { Scalar } from "../values/scalar.ts";
import type { Column, Table } from "../values/types/column.ts";
import type { Key, KeyValue } from "../values/types/key.ts";
import { limits } from "../values/limits.ts";
import { mayHold } from "./comparisons.ts";
import {
  allOf,
  type Comparison,
  type Condition,
  equals,
  noRow,
  type Select,
  sourceOf,
  selectFrom,
} from "./statement.ts";

export const compares = (column: Column, operator: Comparison, value: Scalar): Condition => ({
  kind: "compare",
  column,
  operator,
  value,
});

export const isOneOf = (column: Column, values: readonly Scalar[]): Condition => ({
  kind: "in",
  column,
  values,
  negated: false,
});

/** The one row with this key. The key has a column at least. */
export function keyIs(key: Key, value: KeyValue): Condition {
  if (!mayHave(key, value)) return noRow;
  const where = allOf(...key.map((column, at) => equals(column, value[at] ?? null)));
  if (where === null) throw new Error("A row without a key cannot be named");
  return where;
}

/** Some engines reject the comparison with a number that the column cannot hold. */
const mayHave = (key: Key, value: KeyValue): boolean =>
  key.every((column, at) => mayHold(column, value[at] ?? null));

interface NamedRow {
  readonly table: Table;
  readonly key: Key;
  readonly keyValue: KeyValue;
  /** The row stays locked until the transaction ends; absent: it is only read. */
  readonly lock?: boolean;
}

/** Reads the one row with this key. */
export const rowOf = (
  { table, key, keyValue, lock = false }: NamedRow,
  columns: readonly Column[],
): Select => selectFrom(sourceOf(table), { columns, where: keyIs(key, keyValue), limit: 1, lock });

/**
 * The rows with these keys, at most as many as `keyBatches` gives at once. Several columns are compared by OR and AND,
 * because all engines then use the index, which they do not for pairs of values. The last key is repeated, so that
 * lists of all lengths share few texts.
 */
export function keyIn(key: Key, values: readonly KeyValue[]): Condition {
  const [only] = key;
  if (only === undefined) throw new Error("Rows without a key cannot be named");
  if (key.length === 1)
    return {
      kind: "in",
      column: only,
      values: values.flatMap(([value]) => (mayHold(only, value!) ? [value!] : [])),
      negated: false,
    };
  const last = values.length - 1;
  const count = values.length === 0 ? 0 : 2 ** Math.ceil(Math.log2(values.length));
  const members = Array.from({ length: count }, (_, at) => keyIs(key, values[Math.min(at, last)]!));
  return { kind: "or", members };
}

/** How many keys one condition takes. */
export const keysMax = (key: Key): number =>
  key.length > 1 ? limits.keyTuplesMax : limits.inValuesMax;

/** The keys in lists that `keyIn` takes. */
export function* keyBatches(key: Key, values: readonly KeyValue[]): Generator<readonly KeyValue[]> {
  const size = keysMax(key);
  for (let at = 0; at < values.length; at += size) yield values.slice(at, at + size);
}
