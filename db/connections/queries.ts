/**
 * Core's `DbQueries` over a function that runs one statement. A statement that the engine accepts only in parts, or
 * only together with others, becomes several.
 */
import type { Column, Table } from "../../core/values/types/column.ts";
import { AppError } from "../../core/values/errors.ts";
import type { DbQueries } from "../../core/query/session.ts";
import type { Row } from "../../core/values/row.ts";
import type { ListText, TextForm } from "../../core/query/list-text.ts";
import type {
  Aggregate,
  Ask,
  Calculate,
  Count,
  Delete,
  Insert,
  Native,
  Select,
  UpdateMany,
  UpdateOne,
} from "../../core/query/statement.ts";
import { ownReferences } from "../../core/records/parents-first.ts";
import { keysMax } from "../../core/query/key-conditions.ts";
import { limits } from "../../core/values/limits.ts";
import type { Dialect } from "../statements/dialect.ts";
import { travelAsLists } from "../statements/insert-rows.ts";
import { mustNarrow } from "../statements/walk-writes.ts";
import type { Execute } from "./execute.ts";
import { deleteAll, insertAll, mayPassOver, refuseUnchanged } from "./passed-over.ts";
import {
  type ChangeAndRead,
  givesKeys,
  insertAndRead,
  isFoundAgain,
  readAndDelete,
  updateAndRead,
  updateEach,
} from "./read-back.ts";

/** How statements are run, outside a transaction or in one. */
export interface Runner {
  readonly dialect: Dialect;
  readonly read: Execute;
  /** Runs one INSERT, UPDATE or DELETE. */
  readonly write: Execute;
  /** Runs several statements as one. */
  readonly atomically: <T>(
    work: (execute: Execute, changeAndRead: ChangeAndRead) => Promise<T>,
  ) => Promise<T>;
  /** As one of `atomically`, in one round trip where the server can decide how it ends. */
  readonly changeAndRead: ChangeAndRead;
}

/** A class, because one is created per request: methods are shared, closures would not be. */
export class StatementQueries implements DbQueries {
  private readonly runner: Runner;

  constructor(runner: Runner) {
    this.runner = runner;
  }

  async all(select: Select): Promise<Row[]> {
    return (await this.runner.read(select)).rows;
  }

  async allAsText(select: Select, form: TextForm): Promise<ListText> {
    return (await this.runner.read({ ...select, asText: form })).list!;
  }

  async one(select: Select): Promise<Row | null> {
    return (await this.runner.read(select)).rows[0] ?? null;
  }

  async count(count: Count): Promise<number> {
    return Number((await this.runner.read(count)).rows[0]!["count"]);
  }

  async estimate(count: Count): Promise<number | null> {
    try {
      return await estimateOf(count, this.runner, (table) => this.count(table));
    } catch (error) {
      // A server can refuse EXPLAIN for what it allows to read: a view over tables that this user has no right to.
      if (error instanceof AppError && error.kind === "internal") return null;
      throw error;
    }
  }

  async aggregate(aggregate: Aggregate): Promise<Row[]> {
    const { counted } = aggregate;
    const outputs = counted ? [...aggregate.outputs, counted] : aggregate.outputs;
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
    const parts = partsOf(answered(insert), dialect);
    if (parts.length === 1 && isWhole(parts[0]!, dialect)) return insertAll(parts[0]!, write);
    return atomically(async (execute) => {
      const rows: Row[] = [];
      for (const part of parts) {
        const store = isWhole(part, dialect) ? insertAll : insertAndRead;
        rows.push(...(await store(part, execute)));
      }
      return rows;
    });
  }

  async updateOne(update: UpdateOne): Promise<Row | null> {
    const { dialect, read, write, atomically, changeAndRead } = this.runner;
    if (!isWhole(answered(update), dialect)) {
      if (isFoundAgain(update)) return updateAndRead(update, { execute: read, changeAndRead });
      return atomically((execute, joined) =>
        updateAndRead(answered(update), { execute, changeAndRead: joined }),
      );
    }
    const { rows, matched } = await write(update);
    const row = rows[0] ?? (matched > 0 ? {} : null);
    if (row === null) await refuseUnchanged(update, 0, read);
    return row;
  }

  async updateMany(update: UpdateMany): Promise<number> {
    const { dialect, read, write, atomically } = this.runner;
    if (isView(update))
      return atomically((execute, changeAndRead) => updateEach(update, { execute, changeAndRead }));
    const rowsMax = updateRowsMax(update, dialect);
    const change = async (part: UpdateMany, reading: Execute, execute: Execute) => {
      const { matched } = await execute(part);
      if (matched < part.rows.length) await refuseUnchanged(part, matched, reading);
      return matched;
    };
    if (update.rows.length <= rowsMax) return change(update, read, write);
    return atomically(async (execute) => {
      let matched = 0;
      for (let at = 0; at < update.rows.length; at += rowsMax) {
        const part = { ...update, rows: update.rows.slice(at, at + rowsMax) };
        matched += await change(part, execute, execute);
      }
      return matched;
    });
  }

  async delete(statement: Delete): Promise<Row[]> {
    const { dialect, write, atomically } = this.runner;
    mustNarrow(statement);
    const isOrdered = dialect.deletesRowByRow === true && ownReferences(statement.table).length > 0;
    if (isOrdered || !isWhole(answered(statement), dialect)) {
      return atomically((execute) => readAndDelete(statement, execute));
    }
    if (mayPassOver(statement)) return atomically((execute) => deleteAll(statement, execute));
    return deleteAll(statement, write);
  }

  tells(table: Table, columns: readonly Column[]): boolean {
    const { logging } = this.runner.dialect;
    const { kind, changesReturned, locksRows } = table;
    const isPlain = kind === "table" && changesReturned !== true && locksRows !== false;
    if (logging === undefined || !isPlain) return false;
    const returned = table.columns.size + columns.length;
    return returned <= logging.columnsMax && columns.every((column) => logging.takes(column));
  }
}

/** Rows in one UPDATE of many rows. */
function updateRowsMax({ key, columns, rows }: UpdateMany, dialect: Dialect): number {
  const lists = rows.map(({ keyValue, values }) => [...keyValue, ...values]);
  if (travelAsLists(dialect.valueLists, [...key, ...columns], lists)) return limits.inValuesMax;
  const perRow = columns.length * (key.length + 1) + key.length;
  return Math.max(1, Math.min(casesMax, Math.floor(dialect.paramsMax / 2 / perRow)));
}

/** Each row compares its key with those before it, so more rows would not be faster. */
const casesMax = 64;

const isView = ({ table }: { readonly table: Table }): boolean => table.kind === "view";

/**
 * A write to a view returns at least its key. With an INSTEAD OF trigger, an engine counts no rows and returns what
 * was sent, not what is stored, so the rows are read back.
 */
const answered = <Write extends Insert | UpdateOne | Delete>(statement: Write): Write =>
  isView(statement) && statement.returning.length === 0
    ? { ...statement, returning: statement.key }
    : statement;

/** Whether the statement itself returns the requested rows. */
const isWhole = (statement: Insert | UpdateOne | Delete, { returning }: Dialect): boolean =>
  !isView(statement) &&
  (statement.returning.length === 0 ||
    (returning && !isChangedLater(statement)) ||
    (statement.kind === "insert" && statement.table.insertsReturn === true));

/** Whether triggers change what the statement returns. New rows are only read again if their keys are known. */
function isChangedLater(statement: Insert | UpdateOne | Delete): boolean {
  if (statement.kind === "delete" || statement.table.changesReturned !== true) return false;
  const [first] = statement.key;
  return statement.kind === "update" || givesKeys(statement) || first?.generated === "identity";
}

/** The INSERT in parts that the engine accepts; one row each when that is the only way to get the generated keys. */
function partsOf(insert: Insert, dialect: Dialect): Insert[] {
  const { columns, rows } = insert;
  const isReadBack = !isWhole(insert, dialect);
  const oneByOne = columns.length === 0 || (isReadBack && !givesKeys(insert));
  // A power of two, so that INSERTs of different lengths share few texts.
  const several = isReadBack ? keysMax(insert.key) : limits.inValuesMax;
  const rowsMax = oneByOne
    ? 1
    : 2 ** Math.floor(Math.log2(Math.min(dialect.paramsMax / columns.length, several)));
  if (rows.length <= rowsMax) return [insert];
  const parts: Insert[] = [];
  for (let at = 0; at < rows.length; at += rowsMax)
    parts.push({ ...insert, rows: rows.slice(at, at + rowsMax) });
  return parts;
}

// Estimates the rows of a list without counting them. Planners know the rows of a table, but guess those that a
// condition leaves: for substrings, and for conditions that depend on each other. So these are counted in a sample.

/** Least number of rows in a sample; it has up to twice as many. */
const sampleRowsMin = 16_384;
/**
 * Blocks in which a sample must find rows. Related rows are often in the same block, so blocks count, not rows. With
 * 40, the result is within a factor of two except in one case in thousands.
 */
const foundBlocksMin = 40;

/**
 * Null if the estimate could be wrong by more than a factor of two, or if counting costs no more. Rejects as
 * statements do: a server can refuse EXPLAIN for what it allows to read.
 */
async function estimateOf(
  { source, where }: Count,
  { dialect, read }: Pick<Runner, "dialect" | "read">,
  countRows: (count: Count) => Promise<number>,
): Promise<number | null> {
  const { estimate } = dialect;
  if (estimate === undefined) return null;
  const isTable = source.kind === "table" && source.isView !== true;
  if (where !== null && (estimate.samples === undefined || !isTable)) return null;
  const expected = estimate.read((await read({ kind: "estimate", source, where: null })).rows);
  // A table that the server has not looked at yet counts as ten pages, however few rows it has.
  const isSmall = isTable && expected < sampleRowsMin;
  if (where === null) return isSmall ? countRows({ kind: "count", source, where }) : expected;
  const halvings = Math.floor(Math.log2(expected / sampleRowsMin));
  // Half of a table takes nearly as long as all of it.
  if (halvings < 2) return null;
  const { rows } = await read({ kind: "sample", source, where, halvings });
  const sample = rows[0]!;
  if (Number(sample["blocks"]) < foundBlocksMin) return null;
  return Math.round((Number(sample["found"]) / Number(sample["rows"])) * expected);
}
