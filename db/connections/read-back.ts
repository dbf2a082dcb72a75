/**
 * Writes on engines that cannot return the written rows: the rows are read in the same transaction, after an INSERT or
 * UPDATE, or before a DELETE.
 */
import type { Column, Table } from "../../core/values/types/column.ts";
import { AppError } from "../../core/values/errors.ts";
import {
  isOfKey,
  type Key,
  keyNames,
  keyText,
  type KeyValue,
} from "../../core/values/types/key.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import type { Row } from "../../core/values/row.ts";
import { keyBatches, keyIn, keyIs } from "../../core/query/key-conditions.ts";
import {
  type Delete,
  type Insert,
  type Select,
  sourceOf,
  type UpdateMany,
  type UpdateOne,
} from "../../core/query/statement.ts";
import { childrenFirst, ownReferences } from "../../core/records/parents-first.ts";
import { columnTypes } from "../../core/values/types/column-types.ts";
import type { Execute, Written } from "./execute.ts";
import { refuseMissing, refuseUnchanged } from "./passed-over.ts";

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
 * Inserts and returns the stored rows. Either the rows contain their keys, or there is one row and the database
 * returns its one missing key column.
 */
export async function insertAndRead(insert: Insert, execute: Execute): Promise<Row[]> {
  const { table, key, columns, rows, returning } = insert;
  if (key.length === 0)
    throw new Error(`New rows of ${table.name} cannot be read back without a key`);
  const { insertId, rows: returned, matched } = await execute({ ...insert, returning: key });
  // Of a view, an engine may count no rows.
  if (table.kind === "table") refuseMissing(insert, matched);
  const places = key.map((column) => placeOf(column, columns));
  const keys = rows.map((row, index) =>
    key.map(
      (column, at) =>
        row[places[at]!] ??
        returnedKey(returned[index], column) ??
        (column.generated === "identity" ? insertId : null),
    ),
  );
  if (keys.some((keyValue) => keyValue.includes(null))) {
    if (table.kind === "view") throw unknownKey(table, key);
    throw new Error(`The database does not return the key of the new row in ${table.name}`);
  }
  if (keys.length === 1)
    return [await readOne(table, { key, keyValue: keys[0]!, returning }, execute)];
  const found = await readKeyed(table, { key, returning }, keyIn(key, keys), execute);
  const byKey = new Map(found.map(({ keyValue, row }) => [keyText(keyValue), row]));
  const stored: Row[] = [];
  for (const keyValue of keys) {
    // The database can return a key in another form than it was sent (`1.0`, a padded text).
    stored.push(
      byKey.get(keyText(keyValue)) ?? (await readOne(table, { key, keyValue, returning }, execute)),
    );
  }
  return stored;
}

/** The key's value in a row from RETURNING; null without one. */
function returnedKey(row: Row | undefined, { name, type }: Column): Scalar {
  const shown = row?.[name] ?? null;
  return shown === null ? null : columnTypes[type].fromShown(shown);
}

/** An UPDATE and the SELECT of its row, as one. */
export type ChangeAndRead = (update: UpdateOne, select: Select) => Promise<[Written, Written]>;

interface Running {
  readonly execute: Execute;
  readonly changeAndRead: ChangeAndRead;
}

/** Whether the changed row is sure to be found again by its key, and to be one: nothing then has to be undone. */
export const isFoundAgain = ({ table, key, set }: UpdateOne): boolean =>
  table.kind === "table" &&
  table.changesWith !== null &&
  !set.some(({ column }) => isOfKey(key, column));

/** The changed row; null when no row matched. */
export async function updateAndRead(
  update: UpdateOne,
  { execute, changeAndRead }: Running,
): Promise<Row | null> {
  const { table, key, returning } = update;
  const keyValue = key.map((column, at) => {
    const moved = update.set.find(
      (change) => change.kind === "set" && change.column.name === column.name,
    );
    return moved?.kind === "set" ? moved.value : update.keyValue[at]!;
  });
  const select = selectOf(table, { key, keyValue, returning });
  const [{ matched }, { rows }] = await changeAndRead(update, select);
  if (matched === 0) {
    await refuseUnchanged(update, 0, execute);
    return null;
  }
  if (matched > 1) throw severalRows(table, key);
  return rows[0] ?? refuseUnshown(table);
}

/** One statement per row; returns how many rows existed. */
export async function updateEach(update: UpdateMany, running: Running): Promise<number> {
  const { table, key, columns, rows, guard, set } = update;
  let done = 0;
  for (const { keyValue, values } of rows) {
    const own = columns.map((column, at) => ({ kind: "set", column, value: values[at]! }) as const);
    const one = { kind: "update", table, key, keyValue, guard } as const;
    const row = await updateAndRead({ ...one, set: [...own, ...set], returning: key }, running);
    if (row !== null) done++;
  }
  return done;
}

/** The rows as they were. Of rows that refer to others of them, those go first. */
export async function readAndDelete(statement: Delete, execute: Execute): Promise<Row[]> {
  const { table, key, where, returning } = statement;
  if (key.length === 0) {
    const { rows } = await execute(lockingSelect(table, returning, where));
    if (rows.length > 0) await execute(statement);
    return rows;
  }
  const unasked = ownReferences(table).filter((column) => !isOfKey(returning, column));
  const asked = { key, returning: [...returning, ...unasked] };
  const found = await readKeyed(table, asked, where, execute);
  const rows = found.map(({ row }) => row);
  const { sets, circles } = childrenFirst(rows, table);
  for (const row of rows) for (const { name } of unasked) delete row[name];
  const batches = (places: readonly number[]) =>
    keyBatches(
      key,
      places.map((place) => found[place]!.keyValue),
    );
  for (const keys of batches(circles)) await clearLinks(statement, keys, execute);
  for (const places of sets)
    for (const keys of batches(places))
      await execute({ ...statement, where: keyIn(key, keys), returning: [] });
  return rows;
}

/** MySQL deletes no row that refers to itself or back in a circle, so such rows lose their references first. */
async function clearLinks(
  { table, key }: Delete,
  keys: readonly KeyValue[],
  execute: Execute,
): Promise<void> {
  const set = ownReferences(table, "columns")
    .filter(({ nullable, generated }) => nullable && generated === "none")
    .map((column) => ({ kind: "set", column, value: null }) as const);
  const rows = keys.map((keyValue) => ({ keyValue, values: [] }));
  const own = { table, key, guard: null, returning: [] } as const;
  if (set.length > 0) await execute({ kind: "updateMany", ...own, columns: [], rows, set });
}

interface Keyed {
  readonly key: Key;
  readonly keyValue: KeyValue;
  readonly returning: readonly Column[];
}

async function readOne(table: Table, keyed: Keyed, execute: Execute): Promise<Row> {
  const { rows } = await execute(selectOf(table, keyed));
  return rows[0] ?? refuseUnshown(table);
}

const selectOf = (table: Table, { key, keyValue, returning }: Keyed): Select => ({
  ...lockingSelect(table, returning, keyIs(key, keyValue)),
  lock: false,
});

function refuseUnshown({ kind, name }: Table): never {
  if (kind === "view")
    throw new AppError("rejectedByDatabase", `The view ${name} would not show the record`);
  throw new Error(`A row that was just written to ${name} is not there`);
}

const unknownKey = ({ name }: Table, key: Key): AppError =>
  new AppError(
    "rejectedByDatabase",
    `The view ${name} does not tell the key of the new record; send ${keyNames(key)}`,
  );

const severalRows = ({ name }: Table, key: Key): AppError =>
  new AppError("rejectedByDatabase", `${keyNames(key)} names several records of the view ${name}`);

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
