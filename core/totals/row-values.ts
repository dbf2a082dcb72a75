/** Keys and columns of written or returned rows, by column name, because each endpoint has its own column objects. */
import type { LinesTable } from "../plans/document-tables.ts";
import type { Row } from "../values/row.ts";
import type { Condition, UpdateOne } from "../query/statement.ts";
import { comparand } from "../query/comparisons.ts";
import { accept, unlimited } from "../values/types/accept.ts";
import { showBytes } from "../values/types/bytes-type.ts";
import type { Column } from "../values/types/column.ts";
import type { Json } from "../values/json.ts";
import type { Key, KeyValue } from "../values/types/key.ts";
import type { Scalar } from "../values/scalar.ts";

/** The header keys of a line, by the names of its foreign keys; in JSON, as answers show them. */
export type HeaderKeys = Readonly<Record<string, Json | undefined>>;

/** The value of a statement as answers show it. */
export const shownScalar = (value: Scalar): Json =>
  value instanceof Uint8Array
    ? showBytes(value)
    : typeof value === "bigint"
      ? String(value)
      : value;

/** The value in the form of the column; null if the column cannot store it. */
export function scalarFor(column: Column, value: Json): Scalar {
  const accepted = accept(unlimited(column), value);
  return accepted.ok ? accepted.value : null;
}

/** The header keys in the rows, without those that the rows do not contain. */
export function keysIn(
  { headers }: LinesTable,
  { columns, rows }: { columns: readonly Column[]; rows: readonly (readonly Scalar[])[] },
): HeaderKeys[] {
  const places = headers.flatMap(({ foreignKey: { name } }) => {
    const at = columns.findIndex((column) => column.name === name);
    return at < 0 ? [] : [[name, at] as const];
  });
  if (places.length === 0) return [];
  return rows.map((row) =>
    Object.fromEntries(places.map(([name, at]) => [name, shownScalar(row[at] ?? null)])),
  );
}

/** The header keys that an update assigns to all of its rows. */
export const assignedKeys = ({ headers }: LinesTable, set: UpdateOne["set"]): HeaderKeys =>
  Object.fromEntries(
    set.flatMap((one) =>
      one.kind === "set" && headers.some(({ foreignKey }) => foreignKey.name === one.column.name)
        ? [[one.column.name, shownScalar(one.value)] as const]
        : [],
    ),
  );

/** The value that every matching row has in the column; undefined if the condition does not determine it. */
export function pinned(where: Condition, name: string): Scalar | undefined {
  if (where.kind === "compare")
    return where.operator === "=" && where.column.name === name ? where.value : undefined;
  if (where.kind !== "and") return undefined;
  for (const member of where.members) {
    const value = pinned(member, name);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** The `named` columns of the row as a value of `key`; empty if one of them is null. */
export function keyValueOf(key: Key, row: Row, named: Key = key): KeyValue[] {
  const values = named.map(({ name }, at) => {
    const shown = row[name] ?? null;
    return shown === null ? null : comparand(key[at]!, shown);
  });
  return values.includes(null) ? [] : [values];
}

/** The columns, and those of `more` with other names. */
export const union = (columns: readonly Column[], more: readonly Column[]): Column[] => [
  ...columns,
  ...more.filter(
    ({ name }, at) =>
      !columns.some((column) => column.name === name) &&
      more.findIndex((column) => column.name === name) === at,
  ),
];

/** The row with only these columns. */
export const only = (row: Row, columns: readonly Column[]): Row =>
  Object.fromEntries(columns.map(({ name }) => [name, row[name] ?? null]));
