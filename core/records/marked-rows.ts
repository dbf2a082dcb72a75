/** Rows of tables with soft delete, as delete and restore follow them from a row to those that point at it. */
import { past } from "../callers/scoped-session.ts";
import type { Queries, UnscopedQueries } from "../query/session.ts";
import { rowsThatAre } from "../callers/visibility.ts";
import type { Row } from "../values/row.ts";
import { type ChildKey, markNames, type MarkedTable } from "../plans/soft-delete.ts";
import { keyBatches, keyIn } from "../query/key-conditions.ts";
import {
  allOf,
  type Assignment,
  type Condition,
  type Select,
  sourceOf,
  selectFrom,
} from "../query/statement.ts";
import { updateRows } from "../query/write-statements.ts";
import { keyValueOf } from "../totals/row-values.ts";
import { comparand } from "../query/comparisons.ts";
import type { Column, Table } from "../values/types/column.ts";
import { type Key, keyText, type KeyValue } from "../values/types/key.ts";
import type { Scalar } from "../values/scalar.ts";

/** Rows of one table. */
export interface MarkedRows {
  readonly marked: MarkedTable;
  /** With at least the columns of `columnsOf`. */
  readonly rows: readonly Row[];
}

/** The columns needed to mark or restore a row. */
export function columnsOf(marked: MarkedTable): Column[] {
  const { key, marks, reusable, children, parents } = marked;
  const columns = [
    ...key,
    ...reusable,
    ...(marks.at ? [marks.at] : []),
    ...children.flatMap(({ referenced }) => referenced),
    ...parents.flatMap((parent) => parent.columns),
  ];
  return [...new Map(columns.map((column) => [column.name, column])).values()];
}

/** Passes the caller's scope: the database would look at all rows, too. */
export const everyRow = (queries: Queries): UnscopedQueries => past(queries, "references");

/** The `named` columns of the rows as values of `columns`, which refer to them: each once, and without nulls. */
export const distinctValues = (columns: Key, rows: readonly Row[], named: Key): KeyValue[] => [
  ...new Map(
    rows.flatMap((row) => keyValueOf(columns, row, named)).map((one) => [keyText(one), one]),
  ).values(),
];

/** Conditions for the rows of a child that point at these rows and meet `which`. */
export function* pointingAt(
  { columns, referenced }: ChildKey,
  rows: readonly Row[],
  which: Condition | null,
): Generator<Condition> {
  const values = distinctValues(columns, rows, referenced);
  for (const some of keyBatches(columns, values)) yield allOf(keyIn(columns, some), which)!;
}

/** Locked until the transaction ends, in the order of the key. */
export const lockedSelect = (table: Table, columns: readonly Column[], key: Key): Select =>
  selectFrom(sourceOf(table), {
    columns,
    sort: key.map((column) => ({ column, direction: "asc" })),
    lock: true,
  });

/** The rows of a child that point at these rows and meet `which`, locked. */
export async function lockPointing(
  key: ChildKey & { readonly child: MarkedTable },
  { rows, which }: { rows: readonly Row[]; which: Condition | null },
  tx: UnscopedQueries,
): Promise<Row[]> {
  const { child } = key;
  const select = lockedSelect(child.table, columnsOf(child), child.key);
  const found: Row[] = [];
  for (const where of pointingAt(key, rows, which))
    found.push(...(await tx.all({ ...select, where })));
  return found;
}

/**
 * The rows of `start`, and those that `next` finds at the foreign keys of rows that were found. Each row is there once,
 * however many ways lead to it. Ends, because a table has an end.
 */
export async function follow(
  start: MarkedRows,
  next: (key: ChildKey & { readonly child: MarkedTable }, from: MarkedRows) => Promise<Row[]>,
): Promise<MarkedRows[]> {
  const seen = new Map<MarkedTable, Set<string>>();
  const found: MarkedRows[] = [];
  const open = [start];
  for (const { marked, rows } of open) {
    const known = seen.get(marked) ?? new Set<string>();
    seen.set(marked, known);
    const fresh = rows.filter((row) => {
      const text = JSON.stringify(marked.key.map(({ name }) => row[name]));
      return !known.has(text) && known.add(text) !== null;
    });
    if (fresh.length === 0) continue;
    found.push({ marked, rows: fresh });
    for (const key of marked.children) {
      const { child, onMark } = key;
      if (onMark !== "mark" || child === null) continue;
      open.push({ marked: child, rows: await next({ ...key, child }, { marked, rows: fresh }) });
    }
  }
  return found;
}

/** The rows of the table that are marked, or those that are not; null: all, as the table has no marks. */
export const thatAre = (seen: "active" | "marked", marked: MarkedTable | null): Condition | null =>
  marked && rowsThatAre(seen, markNames(marked.marks), marked.table.columns);

/** What happens to the rows of a table that are marked or restored. */
export interface MarkChange {
  /** Which of the rows it happens to. */
  readonly from: "active" | "marked";
  readonly set: readonly Assignment[];
  /** The new value of a reusable column. */
  readonly reused: (column: Column, row: Row) => Scalar;
}

/** Writes the marks, or takes them away. */
export const changeMarks = (
  { marked, rows }: MarkedRows,
  { from, set, reused }: MarkChange,
  tx: UnscopedQueries,
): Promise<unknown> =>
  tx.updateMany(
    updateRows(marked.table, {
      key: marked.key,
      columns: marked.reusable,
      rows: rows.map((row) => ({
        keyValue: marked.key.map((column) => comparand(column, row[column.name])),
        values: marked.reusable.map((column) => reused(column, row)),
      })),
      set,
      guard: thatAre(from, marked),
    }),
  );
