/**
 * An answer that was kept for an Idempotency-Key, as its caller may see it now: rights may have changed since. A record outside of the
 * scope is null, and fields that are hidden by now are left out.
 */
import type { Answer } from "../calls/action.ts";
import type { Scope } from "../callers/scope.ts";
import type { ReadQueries } from "../callers/session.ts";
import type { Entity, InsertPlan } from "../plans/entity.ts";
import { isObject, type Json } from "../values/json.ts";
import { comparand } from "../query/where.ts";

import { keyIs } from "../query/key-conditions.ts";
import { sourceOf } from "../query/statement.ts";
import type { KeyValue } from "../values/key.ts";
import { showBytes } from "../values/bytes-type.ts";

/** A key for `Answer.subject`. */
export const keyAsJson = (key: KeyValue): Json[] =>
  key.map((value) => {
    if (value instanceof Uint8Array) return showBytes(value);
    return typeof value === "bigint" ? String(value) : value;
  });

interface Seeing {
  readonly entity: Entity;
  /** Of the caller, as is the scope. */
  readonly session: ReadQueries;
  readonly scope: Scope;
}

/** The answer itself where nothing is hidden from the caller. */
export async function narrowReplay(
  answer: Answer,
  { entity, session, scope }: Seeing,
): Promise<Answer> {
  const { insert: write, read, composite } = entity;
  const { subject, body } = answer;
  const { data } = body;
  if (write === null || subject === undefined || !isObject(data)) return answer;
  if (!scope.isWhole && !(await isThere(session, write, subject)))
    return { ...answer, body: { ...body, data: null } };
  const shown = new Set([
    ...write.shown.keys(),
    ...(read?.columns.keys() ?? []),
    ...(composite?.details.map(({ table }) => table.name) ?? []),
  ]);
  const members = Object.entries(data).filter(([name]) => shown.has(name));
  return { ...answer, body: { ...body, data: Object.fromEntries(members) } };
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
