/**
 * How many rows the steps of a plan find at most. Small tables are counted, of large ones the row numbers say how many
 * rows there can be, and their indexes are tried with the keys of some rows. Unknown numbers count as infinite.
 */
import { quoted } from "../../statements/quoted.ts";
import type { Database } from "better-sqlite3";
import type { Command as Sent } from "../engine.ts";

type Command = Pick<Sent, "text" | "params">;

/** For one statement; `name` and `way` as EXPLAIN QUERY PLAN writes them. */
export interface TableSizes {
  /** Rows that a SCAN reads. */
  scanned(name: string, way: string): number;
  /** Rows that a SEARCH finds for one value of its columns. */
  found(name: string, way: string): number;
}

/** A table with more rows is large. */
const smallTableRows = 20_000;
/** Rows of the large table whose keys are tried, and rows of one key above which all are taken to be many. */
const triedKeys = 64;
const triedRowsMax = 1_000;
/** The keys that were not tried may have somewhat more rows than those that were. */
const untriedFactor = 2;
const countedForMs = 10_000;
const triedForMs = 600_000;

interface Entry {
  readonly name: string;
  readonly table: string;
  readonly type: string;
  readonly root: number;
}

export function createTableSizes() {
  const counts = new Map<string, { rows: number; untilMs: number }>();
  const schemas = new Map<unknown, ReadonlyMap<string, Entry>>();

  function remembered(key: string, keptMs: number, find: () => number): number {
    const nowMs = performance.now();
    const before = counts.get(key);
    if (before !== undefined && before.untilMs > nowMs) return before.rows;
    const rows = find();
    counts.set(key, { rows, untilMs: nowMs + keptMs });
    return rows;
  }

  /** By the lower-case name of the table or index. */
  function schemaOf(database: Database): ReadonlyMap<string, Entry> {
    const version = database.pragma("schema_version", { simple: true });
    const before = schemas.get(version);
    if (before !== undefined) return before;
    const entries = database
      .prepare<[], Entry>(
        `select name, tbl_name as "table", type, rootpage as "root" from sqlite_schema where type in ('table', 'index')`,
      )
      .all();
    const schema = new Map(entries.map((entry) => [entry.name.toLowerCase(), entry]));
    schemas.clear();
    counts.clear();
    schemas.set(version, schema);
    return schema;
  }

  function rowsOf(database: Database, table: string): number {
    return remembered(table, countedForMs, () => {
      const rows = database
        .prepare<[], number>(
          `select count(*) from (select 1 from ${quoted(table)} limit ${smallTableRows + 1})`,
        )
        .pluck()
        .get()!;
      return rows > smallTableRows ? numbersOf(database, table) : rows;
    });
  }

  /** The most rows with one key of the first `columns` columns, among the tried ones. */
  function rowsOfKey(database: Database, { name, table }: Entry, columns: number): number {
    const rows = rowsOf(database, table);
    if (rows <= smallTableRows) return rows;
    const tried = remembered(`${name} ${columns}`, triedForMs, () => {
      const names = columnsOf(database, name).slice(0, columns);
      if (names.length < columns || names.includes(null)) return Infinity;
      return tryKeys(database, { table, index: name, columns: names as string[] });
    });
    return Math.min(rows, tried);
  }

  return {
    of(database: Database, command: Command): TableSizes {
      const schema = schemaOf(database);
      return statementSizes({ database, command, schema, rowsOf, rowsOfKey });
    },
  };
}

/** From the first row's number to the last one's; infinite for a table without them. */
function numbersOf(database: Database, table: string): number {
  try {
    const { first, last } = endsOf(database, table);
    return Number(last - first) + 1;
  } catch {
    return Infinity;
  }
}

const endsOf = (database: Database, table: string): { first: bigint; last: bigint } =>
  database
    .prepare<[], { first: bigint; last: bigint }>(
      `select (select min(_rowid_) from ${quoted(table)}) as first, (select max(_rowid_) from ${quoted(table)}) as last`,
    )
    .safeIntegers()
    .get()!;

interface StatementTables {
  readonly database: Database;
  readonly command: Command;
  readonly schema: ReadonlyMap<string, Entry>;
  rowsOf(database: Database, table: string): number;
  rowsOfKey(database: Database, index: Entry, columns: number): number;
}

/** What the terms of the statement's plan mean in rows. */
function statementSizes({
  database,
  command: { text, params },
  schema,
  rowsOf,
  rowsOfKey,
}: StatementTables): TableSizes {
  let opened: ReadonlySet<string> | undefined;
  const openedTables = () => (opened ??= tablesOpened(database, { text, params, schema }));

  /** A name is that of a table, or an alias for one of the tables that the statement opens. */
  function rowsNamed(name: string): number {
    const tables = openedTables();
    const entry = schema.get(name.toLowerCase());
    if (entry !== undefined && tables.has(entry.table)) return rowsOf(database, entry.table);
    const rows = [...tables].map((table) => rowsOf(database, table));
    return rows.length === 0 ? Infinity : Math.max(...rows);
  }

  function rowsOfIndex(way: string): number | null {
    const [, name = "", terms = ""] = /^(?:COVERING )?INDEX (.+) \((.*)\)$/.exec(way) ?? [];
    const entry = schema.get(name.toLowerCase());
    if (entry === undefined) return null;
    const equal = equalTerms(terms);
    if (equal === 0) return rowsOf(database, entry.table);
    const isOne = isUnique(database, entry) && equal === columnsOf(database, name).length;
    return isOne && !/\bis null\b/i.test(text) ? 1 : rowsOfKey(database, entry, equal);
  }

  /** Of tables without row numbers. */
  function rowsOfPrimaryKey(way: string): number | null {
    const [, terms] = /^PRIMARY KEY \((.*)\)$/.exec(way) ?? [];
    if (terms === undefined) return null;
    const columns = [...openedTables()].map((table) => keyColumnsOf(database, table));
    return equalTerms(terms) >= Math.max(...columns) ? 1 : null;
  }

  return {
    scanned: (name, way) => {
      const [, index = ""] = /^(?:COVERING )?INDEX (.+)$/.exec(way) ?? [];
      const entry = schema.get(index.toLowerCase());
      return entry === undefined ? rowsNamed(name) : rowsOf(database, entry.table);
    },
    found: (name, way) =>
      way === "INTEGER PRIMARY KEY (rowid=?)"
        ? 1
        : (rowsOfIndex(way) ?? rowsOfPrimaryKey(way) ?? rowsNamed(name)),
  };
}

/** Columns that the plan compares with one value each. */
const equalTerms = (terms: string): number =>
  terms.includes("ANY(") ? 0 : (terms.match(/[^<>]=\?/g)?.length ?? 0);

const keyColumnsOf = (database: Database, table: string): number =>
  database
    .prepare<[string], number>("select count(*) from pragma_table_info(?) where pk > 0")
    .pluck()
    .get(table)!;

/** The names of an index's columns; null: an expression. */
const columnsOf = (database: Database, index: string): (string | null)[] =>
  database
    .prepare<[string], string | null>("select name from pragma_index_info(?) order by seqno")
    .pluck()
    .all(index);

const isUnique = (database: Database, { name, table }: Entry): boolean =>
  database
    .prepare<[string, string]>(
      'select 1 from pragma_index_list(?) where name = ? and "unique" and not partial',
    )
    .pluck()
    .get(table, name) !== undefined;

interface Tried {
  readonly table: string;
  readonly index: string;
  readonly columns: readonly string[];
}

/** Keys with many rows are drawn more often. A table without row numbers is not tried. */
function tryKeys(database: Database, { table, index, columns }: Tried): number {
  const names = columns.map((name) => quoted(name));
  const ends = endsOf(database, table);
  const keyAt = database
    .prepare<[bigint], unknown[]>(
      `select ${names.join(", ")} from ${quoted(table)} where _rowid_ >= ? limit 1`,
    )
    .raw()
    .safeIntegers();
  const rowsWith = database
    .prepare<unknown[], number>(
      `select count(*) from (select 1 from ${quoted(table)} indexed by ${quoted(index)} where ${names.map((name) => `${name} is ?`).join(" and ")} limit ${triedRowsMax + 1})`,
    )
    .pluck();
  let most = 1;
  for (let tried = 0; tried < triedKeys; tried++) {
    const part = BigInt(Math.floor(Math.random() * 2 ** 53));
    const key = keyAt.get(ends.first + (((ends.last - ends.first) * part) >> 53n));
    if (key === undefined) continue;
    most = Math.max(most, rowsWith.get(...key) ?? 1);
    if (most > triedRowsMax) return Infinity;
  }
  return most * untriedFactor;
}

/** The tables that the compiled statement reads, by the pages that it opens. */
function tablesOpened(
  database: Database,
  { text, params, schema }: Command & { readonly schema: ReadonlyMap<string, Entry> },
): ReadonlySet<string> {
  const byRoot = new Map([...schema.values()].map(({ root, table }) => [root, table]));
  const opened = database
    .prepare<unknown[], { opcode: string; p2: number; p3: number }>(`explain ${text}`)
    .all(...params)
    .filter(({ opcode, p3 }) => opcode === "OpenRead" && p3 === 0);
  return new Set(opened.flatMap(({ p2 }) => byRoot.get(p2) ?? []));
}
