/**
 * Shared by the conformance tests: one database per file with tables for every column type, and short functions that
 * build statements over them. `conformance-*.test.ts` runs on the engine of each Vitest project.
 */
import { afterAll, beforeAll, inject } from "vitest";
import type { Column, Table } from "../../core/values/types/column.ts";
import { AppError } from "../../core/values/errors.ts";
import type { Db } from "../../core/plans/db-port.ts";
import {
  type Assignment,
  type Condition,
  type Insert,
  type Select,
  sourceOf,
  type UpdateOne,
} from "../../core/query/statement.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import { openDb, type OpenOptions } from "../../db/open.ts";
import { createTables, type FixtureTable } from "../contract/tables.ts";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";
import { openSession, type PlainSession } from "../servers/session.ts";
import { type BareSession, bareSession } from "./bare-session.ts";

export const engine = inject("engine");

const tables: FixtureTable[] = [
  {
    name: "kinds",
    columns: {
      id: "key",
      short: "text(10)",
      long: "longtext",
      small: "smallint",
      whole: "integer",
      big: "bigint",
      price: "decimal(12,2)",
      ratio: "float",
      flag: "boolean",
      day: "date",
      moment: "timestamp",
      hour: "time",
      uid: "uuid",
      data: "json",
      file: "bytes",
    },
  },
  { name: "parents", columns: { id: "key", name: { type: "text(20)", notNull: true } } },
  {
    name: "people",
    columns: {
      id: "identity",
      code: { type: "text(20)", unique: true },
      name: { type: "text(20)", notNull: true, default: "'nobody'" },
      parent: { type: "text(36)", references: "parents" },
      stock: { type: "integer", check: "stock >= -100" },
      price: "decimal(12,2)",
      big: "bigint",
      first: "text(10)",
      second: "text(10)",
      created: "timestamp",
      changed: "timestamp",
    },
    unique: [["first", "second"]],
  },
];

/** The names that are hardest to print. */
const oddTable = 'odd "name`';
const oddColumns = ["id", "a.b", "select", 'quo"te`'];

function createOddTable(): string {
  const mark = engine === "mysql" ? "`" : '"';
  const quote = (name: string): string => mark + name.replaceAll(mark, mark + mark) + mark;
  const columns = oddColumns.map((name) => `${quote(name)} varchar(10)`);
  return `create table ${quote(oddTable)} (${columns.join(", ")}, primary key (${quote("id")}))`;
}

/** The open database and its tables. */
export interface Bench {
  db: Db;
  plain: PlainSession;
  url: string;
  kinds: Table;
  parents: Table;
  people: Table;
  odd: Table;
}

const options: OpenOptions = { connectionsMax: 8, statementTimeoutMs: 0, decimals: "number" };

/** Opens a database for the test file and closes it afterwards. Its fields are there once tests run. */
export function useBench(): Bench {
  const bench = {} as Bench;
  let fresh: FreshDatabase;
  beforeAll(async () => {
    fresh = await freshDatabase(engine);
    bench.url = fresh.url;
    bench.plain = await openSession(engine, fresh.url);
    for (const text of createTables(engine, tables)) await bench.plain.run(text);
    await bench.plain.run(createOddTable());
    bench.db = await openDb(fresh.url, options);
    bench.kinds = (await bench.db.catalog.table("kinds"))!;
    bench.parents = (await bench.db.catalog.table("parents"))!;
    bench.people = (await bench.db.catalog.table("people"))!;
    bench.odd = (await bench.db.catalog.table(oddTable))!;
  });
  afterAll(async () => {
    await bench.db?.close();
    await bench.plain?.close();
    await fresh?.drop();
  });
  return bench;
}

/** Another service on the same database. */
export const reopen = (bench: Bench, given: Partial<OpenOptions>): Promise<Db> =>
  openDb(bench.url, { ...options, ...given });

export const session = (bench: Bench, timeoutMs = 10_000): BareSession =>
  bareSession(bench.db, performance.now() + timeoutMs);

export function column(table: Table, name: string): Column {
  const found = table.columns.get(name);
  if (found === undefined) throw new Error(`No column ${name}`);
  return found;
}

const columns = (table: Table, names: readonly string[]): Column[] =>
  names.map((name) => column(table, name));

/** `select(table, ["id"], {where})` */
export const select = (
  table: Table,
  names: readonly string[],
  given: Partial<Select> = {},
): Select => ({
  kind: "select",
  source: sourceOf(table),
  columns: columns(table, names),
  where: null,
  sort: [],
  limit: null,
  offset: 0,
  lock: false,
  ...given,
});

export function insert(
  table: Table,
  row: Readonly<Record<string, Scalar>>,
  returning: readonly string[] = [],
): Insert {
  return insertAll(table, [row], returning);
}

/** All rows give the columns of the first. */
export function insertAll(
  table: Table,
  rows: readonly Readonly<Record<string, Scalar>>[],
  returning: readonly string[] = [],
): Insert {
  const names = Object.keys(rows[0]!);
  return {
    kind: "insert",
    table,
    key: [column(table, "id")],
    columns: columns(table, names),
    rows: rows.map((row) => names.map((name) => row[name]!)),
    returning: columns(table, returning),
  };
}

export const update = (
  table: Table,
  id: Scalar,
  set: readonly Assignment[],
  given: { guard?: Condition; returning?: readonly string[] } = {},
): UpdateOne => ({
  kind: "update",
  table,
  key: [column(table, "id")],
  keyValue: [id],
  guard: given.guard ?? null,
  set,
  returning: columns(table, given.returning ?? ["id"]),
});

export const set = (table: Table, name: string, value: Scalar): Assignment => ({
  kind: "set",
  column: column(table, name),
  value,
});

/** The AppError that the work ends with. */
export async function errorOf(work: Promise<unknown>): Promise<AppError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error("The work did not fail");
}
