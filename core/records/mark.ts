/**
 * Marks rows as deleted. References count as for a DELETE: a row that others reference is refused, and rows that the
 * database would delete with it are marked too. The rows are locked first, and the references are read after the marks
 * are set, so that a row inserted meanwhile either sees the mark or is found.
 */
import type { Call } from "../calls/action.ts";
import type { Queries, UnscopedQueries } from "../query/session.ts";
import { withSuffix } from "../callers/reused-values.ts";
import { flagValue } from "../callers/visibility.ts";
import type { Row } from "../values/row.ts";
import type { ChildKey, MarkedTable } from "../plans/soft-delete.ts";
import { keptOnce } from "../totals/kept-session.ts";
import { allOf, type Assignment, type Condition } from "../query/statement.ts";
import { setTo } from "../query/write-statements.ts";
import type { Column } from "../values/types/column.ts";
import { AppError } from "../values/errors.ts";
import type { Scalar } from "../values/scalar.ts";
import {
  changeMarks,
  lockPointing,
  everyRow,
  follow,
  lockedSelect,
  type MarkedRows,
  pointingAt,
  thatAre,
} from "./marked-rows.ts";
import { actorOf, cutFraction, setUser, userIn } from "./record.ts";

type Asked = Pick<Call, "entity" | "caller" | "body" | "now" | "newId">;

/** Who deletes: the user, else whom the body names. Rejects with `validationFailed`. */
export function deleterOf({ marks: { by } }: MarkedTable, call: Asked): string {
  const byDefault = "Delete from API";
  if (by === null || call.caller.kind !== "nobody") return call.caller.id ?? byDefault;
  const check = (sent: unknown) => call.entity.rules.checkOne(by, sent);
  return String(actorOf(by, { ...call, byDefault, check }));
}

/**
 * Marks the rows of `start`, which are locked, and those that go with them. Rejects with `foreignKeyInUse` if a row
 * that is not marked references one of them; the transaction is then rolled back.
 */
export const markRows = (call: Asked, start: MarkedRows, queries: Queries): Promise<void> =>
  keptOnce(queries, () => markAll(call, start, queries));

async function markAll(call: Asked, start: MarkedRows, queries: Queries): Promise<void> {
  const tx = everyRow(queries);
  const deleter = deleterOf(start.marked, call);
  const found = await follow(start, (key, { rows }) =>
    lockPointing(key, { rows, which: thatAre("active", key.child) }, tx),
  );
  const at = await timeOf(found, { now: call.now(), digits: start.marked.timeDigits, tx });
  const reused = (column: Column, row: Row): Scalar =>
    withSuffix(column, row[column.name] ?? null, call.newId);
  for (const one of found)
    await changeMarks(
      one,
      { from: "active", set: marksOf(one.marked, { at, deleter }), reused },
      tx,
    );
  for (const { marked, rows } of found)
    for (const key of marked.children)
      if (key.onMark === "refuse") await refuseReferences(key, rows, tx);
}

/** The assignments that mark a row. Its time of change stays. */
function marksOf(
  { marks: { flag, at, by }, changeTimes }: MarkedTable,
  given: { at: string; deleter: string },
): Assignment[] {
  return [
    ...(flag ? [setTo(flag, flagValue(flag, true))] : []),
    ...(at ? [setTo(at, given.at)] : []),
    ...(by ? setUser(by, userIn(by, given.deleter)) : []),
    ...changeTimes.map((column) => ({ kind: "keep", column }) as const),
  ];
}

/**
 * The time of the marks: now, or later than the time of every dependent row that is marked already. Restore uses equal
 * times to find the rows that were marked together.
 */
async function timeOf(
  found: readonly MarkedRows[],
  { now, digits, tx }: { now: string; digits: number; tx: UnscopedQueries },
): Promise<string> {
  let time = cutFraction(now, digits);
  for (const { marked, rows } of found) {
    for (const key of marked.children) {
      const at = key.onMark === "mark" ? (key.child?.marks.at ?? null) : null;
      if (at === null) continue;
      const since: Condition = { kind: "compare", column: at, operator: ">=", value: time };
      const which = allOf(thatAre("marked", key.child), since);
      for (const where of pointingAt(key, rows, which)) {
        const select = { ...lockedSelect(key.table, [at], []), where, limit: 1, lock: false };
        const row = await tx.one({ ...select, sort: [{ column: at, direction: "desc" }] });
        if (row) time = later(String(row[at.name]), { than: time, digits });
      }
    }
  }
  return time;
}

/** The next time after the later of the two, in steps of the last digit. */
function later(one: string, { than, digits }: { than: string; digits: number }): string {
  const stepMs = 10 ** (3 - digits);
  const ms = Math.max(Date.parse(one), Date.parse(than));
  return new Date((Math.floor(ms / stepMs) + 1) * stepMs).toISOString();
}

async function refuseReferences(
  key: ChildKey,
  rows: readonly Row[],
  tx: UnscopedQueries,
): Promise<void> {
  const select = lockedSelect(key.table, key.columns, []);
  for (const where of pointingAt(key, rows, thatAre("active", key.child)))
    if ((await tx.one({ ...select, where, limit: 1, lock: false })) !== null)
      throw new AppError("foreignKeyInUse", "The record is still referenced by other records");
}
