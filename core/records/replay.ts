/**
 * A stored answer of an Idempotency-Key, reduced to what its caller may see now, since rights may have changed. A
 * record outside of the scope becomes null, and fields that are now hidden are left out.
 */
import type { Answer } from "../calls/answer.ts";
import { seenLines } from "../callers/seen-lines.ts";
import type { ReadQueries } from "../query/session.ts";
import type { InsertPlan } from "../plans/write-plan.ts";
import type { Row } from "../values/row.ts";
import { isObject, type Json } from "../values/json.ts";
import { comparand } from "../query/comparisons.ts";
import { keyIs } from "../query/key-conditions.ts";
import { sourceOf } from "../query/statement.ts";
import type { KeyValue } from "../values/types/key.ts";
import { shownScalar } from "../totals/row-values.ts";
import type { Seeing } from "../locks/scoped-locks.ts";

/** A key for `Answer.subject`. */
export const keyAsJson = (key: KeyValue): Json[] => key.map(shownScalar);

/** The stored answer itself if nothing is hidden from the caller. */
export async function narrowReplay(
  answer: Answer,
  { entity, session, scope }: Seeing,
): Promise<Answer> {
  const { insert: write, read, composite, adjust, workflow } = entity;
  const { subject, subjects, body } = answer;
  const { data } = body;
  if (subjects !== undefined && write !== null)
    return narrowRecords(answer, subjects, { entity, session, scope });
  if (write === null || subject === undefined || !isObject(data)) return answer;
  if (!scope.isWhole && !(await isThere(session, write, subject)))
    return { ...answer, body: { ...body, data: null } };
  const shown = new Set([
    ...write.shown.keys(),
    ...(read?.columns.keys() ?? []),
    ...(adjust?.shown.keys() ?? []),
    ...(workflow?.fields.keys() ?? []),
    ...(composite?.shownTotals.keys() ?? []),
    ...(composite?.details.map(({ table }) => table.name) ?? []),
    "_operations",
  ]);
  const members = new Map(Object.entries(data).filter(([name]) => shown.has(name)));
  for (const detail of composite?.details ?? []) {
    const rows = members.get(detail.table.name);
    if (!Array.isArray(rows)) continue;
    const headerKey = comparand(detail.foreignKey, subject[0]);
    const seen = await seenLines(rows.filter(isObject) as Row[], { detail, headerKey }, session);
    const visible = seen.map((row) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => detail.shown.has(name))),
    );
    members.set(detail.table.name, visible);
  }
  return { ...answer, body: { ...body, data: Object.fromEntries(members) } };
}

/** Of a list of records, in `data` or in `results`. */
async function narrowRecords(
  answer: Answer,
  subjects: readonly (readonly Json[] | null)[],
  { entity: { insert, read }, session, scope }: Seeing,
): Promise<Answer> {
  const shown = new Set([...insert!.shown.keys(), ...(read?.columns.keys() ?? [])]);
  const narrow = async (record: unknown, at: number): Promise<unknown> => {
    const subject = subjects[at] ?? null;
    if (!isObject(record)) return record;
    const isSought = subject !== null && !scope.isWhole;
    if (isSought && !(await isThere(session, insert!, subject))) return null;
    return Object.fromEntries(Object.entries(record).filter(([name]) => shown.has(name)));
  };
  const { data, results } = answer.body;
  const body = { ...answer.body };
  if (Array.isArray(data)) body["data"] = await eachOf(data, narrow);
  else if (Array.isArray(results))
    body["results"] = await eachOf(results, async (one, at) =>
      isObject(one) && Object.hasOwn(one, "data") && one["success"] === true
        ? { ...one, data: await narrow(one["data"], at) }
        : one,
    );
  return { ...answer, body };
}

/** One after the other. */
async function eachOf(
  list: readonly unknown[],
  change: (one: unknown, at: number) => Promise<unknown>,
): Promise<unknown[]> {
  const changed: unknown[] = [];
  for (const [at, one] of list.entries()) changed.push(await change(one, at));
  return changed;
}

async function isThere(
  session: ReadQueries,
  { table, key }: InsertPlan,
  subject: readonly Json[],
): Promise<boolean> {
  // Nothing names the record any more.
  if (key.length === 0 || key.length !== subject.length) return false;
  const where = keyIs(
    key,
    key.map((column, at) => comparand(column, subject[at]!)),
  );
  return (await session.count({ kind: "count", source: sourceOf(table), where })) > 0;
}
