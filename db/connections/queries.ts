/**
 * Core's `DbQueries` over a function that runs one statement. Where the engine cannot answer the rows that it wrote
 * (MySQL), they are read in the same transaction: after an INSERT or UPDATE, before a DELETE. The same inside a transaction and outside.
 */
import type { Column, Table } from "../../core/values/column.ts";
import { AppError } from "../../core/values/errors.ts";
import type { DbQueries, Row } from "../../core/plans/ports.ts";
import {
  type Aggregate,
  type Ask,
  type Calculate,
  type Count,
  type Delete,
  equals,
  type Insert,
  type Native,
  type Select,
  sourceOf,
  type Statement,
  type UpdateMany,
  type UpdateOne,
} from "../../core/query/statement.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import { columnTypes } from "../../core/values/column-types.ts";
import { mustNarrow } from "../statements/must-narrow.ts";
import type { Dialect } from "../statements/dialect.ts";

/** The answer to one statement, decoded. */
export interface Written {
  readonly rows: Row[];
  readonly matched: number;
  readonly insertId: bigint | null;
}

/** Runs one statement; it is atomic in itself. */
export type Execute = (statement: Statement) => Promise<Written>;

/** How statements are run, outside a transaction or in one. */
export interface Runner {
  readonly dialect: Dialect;
  readonly read: Execute;
  /** Runs one INSERT, UPDATE or DELETE. */
  readonly write: Execute;
  /** Runs several statements as one. */
  readonly atomically: <T>(work: (execute: Execute) => Promise<T>) => Promise<T>;
}

/** Keys of one DELETE or SELECT when rows are read back. */
const keysMax = 1_000;

/** A class, because one is made for each request: methods are shared, closures would not be. */
export class StatementQueries implements DbQueries {
  private readonly runner: Runner;

  constructor(runner: Runner) {
    this.runner = runner;
  }

  async all(select: Select): Promise<Row[]> {
    return (await this.runner.read(select)).rows;
  }

  async one(select: Select): Promise<Row | null> {
    return (await this.runner.read(select)).rows[0] ?? null;
  }

  async count(count: Count): Promise<number> {
    return Number((await this.runner.read(count)).rows[0]!["count"]);
  }

  async estimate({ source, where }: Count): Promise<number | null> {
    const { dialect, read } = this.runner;
    if (dialect.estimate === undefined) return null;
    try {
      const { rows } = await read({ kind: "estimate", source, where });
      return dialect.estimate.read(rows);
    } catch (error) {
      // A server may refuse to explain what it lets us read: a view over tables that we have no right to.
      if (error instanceof AppError && error.kind === "internal") return null;
      throw error;
    }
  }

  async aggregate(aggregate: Aggregate): Promise<Row[]> {
    const { outputs } = aggregate;
    const { rows } = await this.runner.read(aggregate);
    return rows.map((row) =>
      Object.fromEntries(outputs.map(({ alias, result }) => [alias, row[result.name]!])),
    );
  }

  async ask(ask: Ask): Promise<Row[]> {
    return (await this.runner.read(ask)).rows;
  }

  async calculate(statement: Calculate): Promise<void> {
    await this.runner.write(statement);
  }

  async native(statement: Native): Promise<Row[]> {
    const { read, write } = this.runner;
    return (await (statement.isRead ? read : write)(statement)).rows;
  }

  async insert(insert: Insert): Promise<Row[]> {
    const { dialect, write, atomically } = this.runner;
    if (insert.rows.length === 0) return [];
    const parts = partsOf(insert, dialect);
    if (parts.length === 1 && isWhole(insert, dialect)) return (await write(insert)).rows;
    return atomically(async (execute) => {
      const rows: Row[] = [];
      for (const part of parts) {
        if (isWhole(part, dialect)) rows.push(...(await execute(part)).rows);
        else rows.push(...(await insertAndRead(part, execute)));
      }
      return rows;
    });
  }

  async updateOne(update: UpdateOne): Promise<Row | null> {
    const { dialect, write, atomically } = this.runner;
    if (!isWhole(update, dialect)) return atomically((execute) => updateAndRead(update, execute));
    const { rows, matched } = await write(update);
    return rows[0] ?? (matched > 0 ? {} : null);
  }

  async updateMany(update: UpdateMany): Promise<number> {
    const { dialect, write, atomically } = this.runner;
    const perRow = update.columns.length * 2 + 1;
    const rowsMax = Math.max(
      1,
      Math.min(updateRowsMax, Math.floor(dialect.paramsMax / 2 / perRow)),
    );
    if (update.rows.length <= rowsMax) return (await write(update)).matched;
    return atomically(async (execute) => {
      let matched = 0;
      for (let at = 0; at < update.rows.length; at += rowsMax) {
        const part = { ...update, rows: update.rows.slice(at, at + rowsMax) };
        matched += (await execute(part)).matched;
      }
      return matched;
    });
  }

  async delete(statement: Delete): Promise<Row[]> {
    const { dialect, write, atomically } = this.runner;
    mustNarrow(statement);
    if (!isWhole(statement, dialect)) {
      return atomically((execute) => readAndDelete(statement, execute));
    }
    const { rows, matched } = await write(statement);
    return statement.returning.length > 0 ? rows : Array.from({ length: matched }, () => ({}));
  }
}

/** Rows of one UPDATE of many: each compares its key with those before it, so more would not be faster. */
const updateRowsMax = 64;

/** Whether the statement alone answers the rows that are wanted of it. */
const isWhole = (statement: Insert | UpdateOne | Delete, dialect: Dialect): boolean =>
  dialect.returning || statement.returning.length === 0;

/** The INSERT in parts that the engine takes; one row each where that is the only way to learn the generated keys. */
function partsOf(insert: Insert, dialect: Dialect): Insert[] {
  const { columns, rows, returning } = insert;
  const isReadBack = !dialect.returning && returning.length > 0;
  const oneByOne = columns.length === 0 || (isReadBack && !givesKeys(insert));
  // A power of two, so that the parts of long and short INSERTs share few texts.
  const rowsMax = oneByOne
    ? 1
    : 2 ** Math.floor(Math.log2(Math.min(dialect.paramsMax / columns.length, keysMax)));
  if (rows.length <= rowsMax) return [insert];
  const parts: Insert[] = [];
  for (let at = 0; at < rows.length; at += rowsMax)
    parts.push({ ...insert, rows: rows.slice(at, at + rowsMax) });
  return parts;
}

/** Whether every row brings its key along. */
function givesKeys({ key, columns, rows }: Insert): boolean {
  const at = columns.findIndex((column) => column.name === key.name);
  return at >= 0 && rows.every((row) => row[at] !== null && row[at] !== undefined);
}

async function insertAndRead(insert: Insert, execute: Execute): Promise<Row[]> {
  const { table, key, columns, rows, returning } = insert;
  const { insertId } = await execute(insert);
  const at = columns.findIndex((column) => column.name === key.name);
  const keys: Scalar[] = givesKeys(insert) ? rows.map((row) => row[at]!) : [insertId];
  if (keys.some((keyValue) => keyValue === null))
    throw new Error(`The database does not tell the key of the new row in ${table.name}`);
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
    // The database may show a key in another form than it was given (`1.0`, a padded text).
    stored.push(
      byKey.get(String(keyValue)) ?? (await readOne(table, { key, keyValue, returning }, execute)),
    );
  }
  return stored;
}

async function updateAndRead(update: UpdateOne, execute: Execute): Promise<Row | null> {
  const { table, key, returning } = update;
  const { matched } = await execute(update);
  if (matched === 0) return null;
  const moved = update.set.find(
    (change) => change.kind === "set" && change.column.name === key.name,
  );
  const keyValue = moved?.kind === "set" ? moved.value : update.keyValue;
  return readOne(table, { key, keyValue, returning }, execute);
}

async function readAndDelete(statement: Delete, execute: Execute): Promise<Row[]> {
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

/** The rows with their keys beside them, locked until the transaction ends. */
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
