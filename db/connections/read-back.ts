/**
 * Writes on engines that cannot return the written rows: the rows are read in the same transaction, after an INSERT or
 * UPDATE, or before a DELETE.
 */
import type { Column, Table } from "../../core/values/column.ts";
import type { Row } from "../../core/plans/ports.ts";
import {
  type Delete,
  equals,
  type Insert,
  type Select,
  sourceOf,
  type UpdateOne,
} from "../../core/query/statement.ts";
import { type Scalar } from "../../core/values/scalar.ts";
import { columnTypes } from "../../core/values/column-types.ts";
import type { Execute } from "./execute.ts";

/** Keys of one DELETE or SELECT when rows are read back. */
export const keysMax = 1_000;

/** Whether every row contains its key. */
export function givesKeys({ key, columns, rows }: Insert): boolean {
  const at = columns.findIndex((column) => column.name === key?.name);
  return at >= 0 && rows.every((row) => row[at] !== null && row[at] !== undefined);
}

/**
 * Inserts and returns the stored rows. The rows contain their keys, or there is one row whose key the database returns.
 */
export async function insertAndRead(insert: Insert, execute: Execute): Promise<Row[]> {
  const { table, key, columns, rows, returning } = insert;
  if (key === null) throw new Error(`New rows of ${table.name} cannot be read back without a key`);
  const { insertId } = await execute(insert);
  const at = columns.findIndex((column) => column.name === key.name);
  const keys: Scalar[] = givesKeys(insert) ? rows.map((row) => row[at]!) : [insertId];
  if (keys.some((keyValue) => keyValue === null))
    throw new Error(`The database does not return the key of the new row in ${table.name}`);
  if (keys.length === 1)
    return [await readOne(table, { key, keyValue: keys[0]!, returning }, execute)];
  const found = await readKeyed(
    table,
    { key, returning },
    { kind: "in", column: key, values: keys, negated: false },
    execute,
  );
  const byKey = new Map(found.map((entry) => [String(entry.keyValue), entry.row]));
  const stored: Row[] = [];
  for (const keyValue of keys) {
    // The database may show a key in another form than it was sent (`1.0`, a padded text).
    stored.push(
      byKey.get(String(keyValue)) ?? (await readOne(table, { key, keyValue, returning }, execute)),
    );
  }
  return stored;
}

/** The changed row; null when no row matched. */
export async function updateAndRead(update: UpdateOne, execute: Execute): Promise<Row | null> {
  const { table, key, returning } = update;
  const { matched } = await execute(update);
  if (matched === 0) return null;
  const moved = update.set.find(
    (change) => change.kind === "set" && change.column.name === key.name,
  );
  const keyValue = moved?.kind === "set" ? moved.value : update.keyValue;
  return readOne(table, { key, keyValue, returning }, execute);
}

/** The rows as they were. */
export async function readAndDelete(statement: Delete, execute: Execute): Promise<Row[]> {
  const { table, key, where, returning } = statement;
  if (key === null) {
    const { rows } = await execute(lockingSelect(table, returning, where));
    if (rows.length > 0) await execute(statement);
    return rows;
  }
  const found = await readKeyed(table, { key, returning }, where, execute);
  for (let at = 0; at < found.length; at += keysMax) {
    const values = found.slice(at, at + keysMax).map((entry) => entry.keyValue);
    await execute({
      ...statement,
      where: { kind: "in", column: key, values, negated: false },
      returning: [],
    });
  }
  return found.map((entry) => entry.row);
}

async function readOne(
  table: Table,
  { key, keyValue, returning }: { key: Column; keyValue: Scalar; returning: readonly Column[] },
  execute: Execute,
): Promise<Row> {
  const { rows } = await execute({
    ...lockingSelect(table, returning, equals(key, keyValue)),
    lock: false,
  });
  if (rows[0] === undefined)
    throw new Error(`A row that was just written to ${table.name} is not there`);
  return rows[0];
}

/** The rows with their keys, locked until the transaction ends. */
async function readKeyed(
  table: Table,
  { key, returning }: { key: Column; returning: readonly Column[] },
  where: Select["where"],
  execute: Execute,
): Promise<{ keyValue: Scalar; row: Row }[]> {
  const isShown = returning.some((column) => column.name === key.name);
  const { rows } = await execute(
    lockingSelect(table, isShown ? returning : [...returning, key], where),
  );
  return rows.map((row) => {
    const keyValue = columnTypes[key.type].fromShown(row[key.name]!);
    if (!isShown) delete row[key.name];
    return { keyValue, row };
  });
}

const lockingSelect = (
  table: Table,
  columns: readonly Column[],
  where: Select["where"],
): Select => ({
  kind: "select",
  source: sourceOf(table),
  columns,
  where,
  sort: [],
  limit: null,
  offset: 0,
  lock: true,
});
