/**
 * Rows that the database itself deletes or changes together with those that a statement names. They are found before the
 * statement runs, while their references still have the old values.
 */
import type { DatabaseCascade } from "../plans/document-tables.ts";
import { keyBatches, keyIn } from "../query/key-conditions.ts";
import type { RowWrite } from "../query/passing-session.ts";
import type { UnscopedQueries } from "../query/session.ts";
import {
  allOf,
  type Condition,
  type Delete,
  selectFrom,
  sourceOf,
  type UpdateMany,
  type UpdateOne,
} from "../query/statement.ts";
import { limits } from "../values/limits.ts";
import type { Row } from "../values/row.ts";
import type { Scalar } from "../values/scalar.ts";
import type { Column, Table } from "../values/types/column.ts";
import { type Key, keyText, type KeyValue } from "../values/types/key.ts";
import { keyValueOf, scalarFor, shownScalar, union } from "./row-values.ts";

/** By the table whose rows are written. */
type Cascades = ReadonlyMap<string, readonly DatabaseCascade[]>;

/** The cascades that matter, and the transaction. */
export interface CascadePlace {
  readonly cascades: Cascades;
  readonly queries: UnscopedQueries;
}

/** Some rows that are reached in one way. */
export interface CascadedRows {
  readonly cascade: DatabaseCascade;
  readonly where: Condition;
  /** The row as it will be, where its columns follow those that it references. */
  readonly moved: (row: Row) => Row;
}

/** Whether the database itself may change rows because of the statement. */
export function hasCascades(cascades: Cascades, statement: RowWrite): boolean {
  const known = cascades.get(statement.table.identity);
  if (known === undefined) return false;
  if (statement.kind === "delete") return known.some(({ on }) => on === "delete");
  if (statement.kind !== "update" && statement.kind !== "updateMany") return false;
  const changed = changedBy(statement);
  return known.some((one) => follows(one, changed));
}

/** Calls `visit` with all rows that the database itself deletes or changes because of the statement. */
export async function visitCascades(
  reaching: CascadePlace,
  statement: Delete | UpdateOne | UpdateMany,
  visit: (reached: CascadedRows) => Promise<void>,
): Promise<void> {
  if (!hasCascades(reaching.cascades, statement)) return;
  const { table } = statement;
  const { queries } = reaching;
  const touched: Touched =
    statement.kind === "delete"
      ? {
          table,
          changed: null,
          rows: (names) => present(queries, { table, where: statement.where, names }),
        }
      : {
          table,
          changed: changedBy(statement),
          rows: (names) => changedRows(queries, { update: statement, names }),
        };
  await walk(reaching, touched, visit);
}

/** A row before and after the statement; what is not known of the latter is as before. */
interface Move {
  readonly before: Row;
  readonly after: Row;
}

/** The rows of a table that a statement deletes or changes. */
interface Touched {
  readonly table: Table;
  /** Names of the columns that get other values; null = the rows are deleted. */
  readonly changed: ReadonlySet<string> | null;
  readonly rows: (names: Key) => Promise<Move[]>;
}

async function walk(
  reaching: CascadePlace,
  { table, changed, rows }: Touched,
  visit: (reached: CascadedRows) => Promise<void>,
  depth: number = limits.totalsLevelsMax,
): Promise<void> {
  const { cascades, queries } = reaching;
  for (const cascade of cascades.get(table.identity) ?? []) {
    if (!follows(cascade, changed)) continue;
    const { table: child, columns, referenced, effect } = cascade;
    const moves = new Map(
      (await rows(referenced)).flatMap(({ before, after }) =>
        keyValueOf(columns, before, referenced).map((value) => [
          keyText(value),
          { value, after: named(columns, referenced, after) },
        ]),
      ),
    );
    const moved = (row: Row): Row => {
      const [value] = keyValueOf(columns, row);
      return { ...row, ...(value && moves.get(keyText(value))?.after) };
    };
    const values = [...moves.values()].map(({ value }) => value);
    for (const some of keyBatches(columns, values)) {
      const where = keyIn(columns, some);
      await visit({ cascade, where, moved });
      if (depth === 0) continue;
      const below: Touched = {
        table: child,
        changed: effect === "delete" ? null : new Set(columns.map(({ name }) => name)),
        rows: async (names) =>
          (await present(queries, { table: child, where, names: union(names, columns) })).map(
            ({ before }) => ({ before, after: moved(before) }),
          ),
      };
      await walk(reaching, below, visit, depth - 1);
    }
  }
}

const follows = (
  { on, referenced }: DatabaseCascade,
  changed: ReadonlySet<string> | null,
): boolean =>
  changed === null
    ? on === "delete"
    : on === "update" && referenced.some(({ name }) => changed.has(name));

const changedBy = (update: UpdateOne | UpdateMany): ReadonlySet<string> =>
  new Set([
    ...update.set.flatMap(({ kind, column }) => (kind === "keep" ? [] : column.name)),
    ...(update.kind === "updateMany" ? update.columns.map(({ name }) => name) : []),
  ]);

/** The values of the other columns, under these names. */
const named = (columns: Key, others: Key, row: Row): Row =>
  Object.fromEntries(columns.map(({ name }, at) => [name, row[others[at]!.name] ?? null]));

interface Asked {
  readonly table: Table;
  readonly where: Condition;
  readonly names: Key;
}

async function present(queries: UnscopedQueries, { table, where, names }: Asked): Promise<Move[]> {
  const rows = await queries.all(selectFrom(sourceOf(table), { columns: names, where }));
  return rows.map((row) => ({ before: row, after: row }));
}

/** The rows that get another value in one of the columns; locked, so that no row begins to reference their old values. */
async function changedRows(
  queries: UnscopedQueries,
  { update, names }: { update: UpdateOne | UpdateMany; names: Key },
): Promise<Move[]> {
  const { table, key, guard } = update;
  const given = givenBy(update);
  const changed = changedBy(update);
  const sort = key.map((column) => ({ column, direction: "asc" }) as const);
  const columns = union(names, key);
  const moves: Move[] = [];
  const keys = [...given.values()].map(({ keyValue }) => keyValue);
  for (const some of keyBatches(key, keys)) {
    const where = allOf(keyIn(key, some), guard)!;
    const select = selectFrom(sourceOf(table), { columns, where, sort, lock: true });
    for (const before of await queries.all(select)) {
      // A key that is written in another way than it is stored tells no values.
      const [own] = keyValueOf(key, before);
      const values = given.get(keyText(own ?? []))?.values;
      if (names.every((column) => !changed.has(column.name) || isKept(column, before, values)))
        continue;
      moves.push({ before, after: { ...before, ...values } });
    }
  }
  return moves;
}

/** Whether the column is assigned the value that it has. */
function isKept(column: Column, before: Row, values: Row | undefined): boolean {
  const [was, is] = [before, values].map((row) => row?.[column.name]);
  if (was === undefined || is === undefined) return false;
  const [from, to] = [was, is].map((one) => (one === null ? null : scalarFor(column, one)));
  return keyText([from!]) === keyText([to!]);
}

/** The values that an update assigns to its rows, by the text of their keys. */
function givenBy(
  update: UpdateOne | UpdateMany,
): ReadonlyMap<string, { readonly keyValue: KeyValue; readonly values: Row }> {
  const rows =
    update.kind === "update"
      ? [{ keyValue: update.keyValue, values: [] as readonly Scalar[] }]
      : update.rows;
  const columns = update.kind === "update" ? [] : update.columns;
  const alike = update.set.flatMap((one) =>
    one.kind === "set" ? [[one.column.name, shownScalar(one.value)] as const] : [],
  );
  return new Map(
    rows.map(({ keyValue, values }) => {
      const own = columns.map(({ name }, at) => [name, shownScalar(values[at] ?? null)] as const);
      return [keyText(keyValue), { keyValue, values: Object.fromEntries([...alike, ...own]) }];
    }),
  );
}
