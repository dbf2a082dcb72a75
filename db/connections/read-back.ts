/**
 * Writes on engines that cannot return the written rows: the rows are read in the same transaction, after an INSERT or
 * UPDATE, or before a DELETE.
 */
import type { Column, Table } from "../../core/values/column.ts";
import { isOfKey, type Key, keyText, type KeyValue } from "../../core/values/key.ts";
import type { Row } from "../../core/plans/ports.ts";
import { keyBatches, keyIn, keyIs } from "../../core/query/key-conditions.ts";
import {
  type Delete,
  type Insert,
  type Select,
  sourceOf,
  type UpdateOne,
} from "../../core/query/statement.ts";
import { columnTypes } from "../../core/values/column-types.ts";
import type { Execute } from "./execute.ts";

/** Whether every row contains its key. */
export function givesKeys({ key, columns, rows }: Insert): boolean {
  const places = key.map((column) => placeOf(column, columns));
  return (
    key.length > 0 &&
    places.every((at) => at >= 0 && rows.every((row) => row[at] !== null && row[at] !== undefined))
  );
}

const placeOf = ({ name }: Column, columns: readonly Column[]): number =>
  columns.findIndex((column) => column.name === name);

/**
 * Inserts and returns the stored rows. The rows contain their keys, or there is one row, and the database returns the one column of its
 * key that is missing.
 */
export async function insertAndRead(insert: Insert, execute: Execute): Promise<Row[]> {
  const { table, key, columns, rows, returning } = insert;
  if (key.length === 0)
    throw new Error(`New rows of ${table.name} cannot be read back without a key`);
  const { insertId } = await execute(insert);
  const places = key.map((column) => placeOf(column, columns));
  const keys = rows.map((row) =>
    key.map(
      (column, at) => row[places[at]!] ?? (column.generated === "identity" ? insertId : null),
    ),
  );
  if (keys.some((keyValue) => keyValue.includes(null)))
    throw new Error(`The database does not return the key of the new row in ${table.name}`);
  if (keys.length === 1)
    return [await readOne(table, { key, keyValue: keys[0]!, returning }, execute)];
  const found = await readKeyed(table, { key, returning }, keyIn(key, keys), execute);
  const byKey = new Map(found.map(({ keyValue, row }) => [keyText(keyValue), row]));
  const stored: Row[] = [];
  for (const keyValue of keys) {
    // The database may show a key in another form than it was sent (`1.0`, a padded text).
    stored.push(
      byKey.get(keyText(keyValue)) ?? (await readOne(table, { key, keyValue, returning }, execute)),
    );
  }
  return stored;
}

/** The changed row; null when no row matched. */
export async function updateAndRead(update: UpdateOne, execute: Execute): Promise<Row | null> {
  const { table, key, returning } = update;
  const { matched } = await execute(update);
  if (matched === 0) return null;
  const keyValue = key.map((column, at) => {
    const moved = update.set.find(
      (change) => change.kind === "set" && change.column.name === column.name,
    );
    return moved?.kind === "set" ? moved.value : update.keyValue[at]!;
  });
  return readOne(table, { key, keyValue, returning }, execute);
}

/** The rows as they were. */
export async function readAndDelete(statement: Delete, execute: Execute): Promise<Row[]> {
  const { table, key, where, returning } = statement;
  if (key.length === 0) {
    const { rows } = await execute(lockingSelect(table, returning, where));
    if (rows.length > 0) await execute(statement);
    return rows;
  }
  const found = await readKeyed(table, { key, returning }, where, execute);
  for (const keys of keyBatches(
    key,
    found.map(({ keyValue }) => keyValue),
  ))
    await execute({ ...statement, where: keyIn(key, keys), returning: [] });
  return found.map((entry) => entry.row);
}

async function readOne(
  table: Table,
  { key, keyValue, returning }: { key: Key; keyValue: KeyValue; returning: readonly Column[] },
  execute: Execute,
): Promise<Row> {
  const { rows } = await execute({
    ...lockingSelect(table, returning, keyIs(key, keyValue)),
    lock: false,
  });
  if (rows[0] === undefined)
    throw new Error(`A row that was just written to ${table.name} is not there`);
  return rows[0];
}

/** The rows with their keys, locked until the transaction ends. */
async function readKeyed(
  table: Table,
  { key, returning }: { key: Key; returning: readonly Column[] },
  where: Select["where"],
  execute: Execute,
): Promise<{ keyValue: KeyValue; row: Row }[]> {
  const unasked = key.filter((column) => !isOfKey(returning, column));
  const { rows } = await execute(lockingSelect(table, [...returning, ...unasked], where));
  return rows.map((row) => {
    const keyValue = key.map(({ name, type }) => columnTypes[type].fromShown(row[name]!));
    for (const { name } of unasked) delete row[name];
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
