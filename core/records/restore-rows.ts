/**
 * Removes the marks of soft delete from the rows that a request names, and from those that the same delete marked with
 * them, which have the same time. The rows that they reference must not be marked. These are locked and checked after
 * the change, so that they cannot be marked meanwhile.
 */
import { withoutSuffix } from "../callers/reused-values.ts";
import { scopeOfLines } from "../callers/scoped-session.ts";
import type { Queries, UnscopedQueries } from "../query/session.ts";
import { flagValue, isMarked } from "../callers/visibility.ts";
import type { Row } from "../values/row.ts";
import type { ChildKey, MarkedTable, ParentKey } from "../plans/soft-delete.ts";
import { keyBatches, keyIn } from "../query/key-conditions.ts";
import { allOf, type Assignment, type Condition, equals, sourceOf } from "../query/statement.ts";
import { setTo } from "../query/write-statements.ts";
import { comparand } from "../query/comparisons.ts";
import { keptOnce } from "../totals/kept-session.ts";
import { AppError } from "../values/errors.ts";
import {
  changeMarks,
  lockPointing,
  distinctValues,
  everyRow,
  follow,
  lockedSelect,
  type MarkedRows,
  thatAre,
} from "./marked-rows.ts";

/**
 * Restores the rows of `start`, which are locked, and those that were marked with them. Rejects with `duplicateEntry`
 * if a value is taken by now, and with `foreignKeyMissing` if one of the rows references a marked row. The transaction
 * is then rolled back.
 */
export const restoreRows = (start: MarkedRows, queries: Queries): Promise<void> =>
  keptOnce(queries, () => restoreAll(start, queries));

async function restoreAll(start: MarkedRows, queries: Queries): Promise<void> {
  const tx = everyRow(queries);
  const found = await follow(start, (key, from) => {
    // Lines that the caller may not write stay marked.
    const own = scopeOfLines(queries, sourceOf(key.child.table), "write");
    return lockChildren(key, { from, own }, tx);
  });
  for (const one of found)
    await changeMarks(
      one,
      { from: "marked", set: clearedMarks(one.marked), reused: withoutSuffix },
      tx,
    );
  for (const { marked, rows } of found)
    for (const key of marked.parents) await refuseMarkedParents(key, rows, tx);
}

/** Marked rows that reference these and have the same time. None if the tables have no times. */
async function lockChildren(
  key: ChildKey & { readonly child: MarkedTable },
  { from: { marked, rows }, own }: { from: MarkedRows; own: Condition | null },
  tx: UnscopedQueries,
): Promise<Row[]> {
  const { child } = key;
  const [since, at] = [marked.marks.at, child.marks.at];
  if (since === null || at === null) return [];
  const found: Row[] = [];
  for (const [time, together] of Map.groupBy(rows, (row) => row[since.name] ?? null)) {
    if (time === null) continue;
    const which = allOf(thatAre("marked", child), own, equals(at, comparand(at, time)));
    found.push(...(await lockPointing(key, { rows: together, which }, tx)));
  }
  return found;
}

function clearedMarks({ marks: { flag, at, by }, changeTimes }: MarkedTable): Assignment[] {
  return [
    ...(flag ? [setTo(flag, flagValue(flag, false))] : []),
    ...[at, by].flatMap((column) => (column?.nullable ? [setTo(column, null)] : [])),
    ...changeTimes.map((column) => ({ kind: "keep", column }) as const),
  ];
}

async function refuseMarkedParents(
  { columns, referenced, parent }: ParentKey,
  rows: readonly Row[],
  tx: UnscopedQueries,
): Promise<void> {
  const { table, key, marks } = parent;
  const { flag, at } = marks;
  const shown = [...new Set([...key, ...referenced, ...[flag, at].filter((one) => one !== null)])];
  const select = lockedSelect(table, shown, key);
  const values = distinctValues(referenced, rows, columns);
  for (const some of keyBatches(referenced, values)) {
    const parents = await tx.all({ ...select, where: keyIn(referenced, some) });
    if (!parents.some((row) => isMarked(row, marks))) continue;
    const errors = Object.fromEntries(columns.map(({ name }) => [name, ["is deleted"]]));
    throw new AppError("foreignKeyMissing", "A referenced record is deleted; restore it first", {
      errors,
    });
  }
}
