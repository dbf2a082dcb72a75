/**
 * Takes the marks of soft delete away: from the rows that a request names, and from those that the same delete marked
 * with them, which is told by the same time. What they point at must not be marked; it is locked and looked at after the
 * change, so that nobody marks it meanwhile.
 */
import type { Queries, UnscopedQueries } from "../callers/session.ts";
import { flagValue, isMarked } from "../callers/visibility.ts";
import type { Row } from "../plans/ports.ts";
import type { ChildKey, MarkedTable, ParentKey } from "../plans/soft-delete.ts";
import { keyBatches, keyIn } from "../query/key-conditions.ts";
import { allOf, type Assignment, equals } from "../query/statement.ts";
import { comparand } from "../query/where.ts";
import { AppError } from "../values/errors.ts";
import { withoutSuffix } from "./mark.ts";
import {
  changeMarks,
  columnsOf,
  distinctValues,
  everyRow,
  follow,
  lockedSelect,
  type MarkedRows,
  pointingAt,
  thatAre,
  valuesFor,
} from "./marked-rows.ts";

/**
 * Restores the rows of `start`, which are locked, and those that were marked with them. Rejects with `duplicateEntry` when
 * a value is taken by now, and with `foreignKeyMissing` when one of the rows points at a marked row; the transaction is
 * then rolled back.
 */
export async function restoreRows(start: MarkedRows, queries: Queries): Promise<void> {
  const tx = everyRow(queries);
  const found = await follow(start, (key, from) => lockChildren(key, from, tx));
  for (const one of found)
    await changeMarks(
      one,
      { from: "marked", set: clearedMarks(one.marked), reused: withoutSuffix },
      tx,
    );
  for (const { marked, rows } of found)
    for (const key of marked.parents) await refuseMarkedParents(key, rows, tx);
}

/** The marked rows that point at these, and have the same time. Without times nothing tells them. */
async function lockChildren(
  key: ChildKey & { readonly child: MarkedTable },
  { marked, rows }: MarkedRows,
  tx: UnscopedQueries,
): Promise<Row[]> {
  const { child } = key;
  const [own, at] = [marked.marks.at, child.marks.at];
  if (own === null || at === null) return [];
  const select = lockedSelect(child.table, columnsOf(child), child.key);
  const found: Row[] = [];
  for (const [time, together] of Map.groupBy(rows, (row) => row[own.name] ?? null)) {
    if (time === null) continue;
    const which = allOf(thatAre("marked", child), equals(at, comparand(at, time)));
    for (const where of pointingAt(key, together, which))
      found.push(...(await tx.all({ ...select, where })));
  }
  return found;
}

function clearedMarks({ marks: { flag, at, by }, updatedAt }: MarkedTable): Assignment[] {
  return [
    ...(flag ? [{ kind: "set", column: flag, value: flagValue(flag, false) } as const] : []),
    ...[at, by].flatMap((column) =>
      column?.nullable ? [{ kind: "set", column, value: null } as const] : [],
    ),
    ...(updatedAt ? [{ kind: "keep", column: updatedAt } as const] : []),
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
  const values = distinctValues(rows.map((row) => valuesFor(referenced, row, columns)));
  for (const some of keyBatches(referenced, values)) {
    const parents = await tx.all({ ...select, where: keyIn(referenced, some) });
    if (!parents.some((row) => isMarked(row, marks))) continue;
    const errors = Object.fromEntries(columns.map(({ name }) => [name, ["is deleted"]]));
    throw new AppError("foreignKeyMissing", "A referenced record is deleted; restore it first", {
      errors,
    });
  }
}
