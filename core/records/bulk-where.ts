/** Records that a bulk request names by a condition: found as read finds them, counted, and locked. */
import type { Call } from "../calls/action.ts";
import type { ReadQueries, Queries } from "../query/session.ts";
import { type Grammar, meaning, wholeNumber } from "../grammar/grammar.ts";
import { keyBatches, keyIn } from "../query/key-conditions.ts";
import { allOf, type Condition, selectFrom, sourceOf } from "../query/statement.ts";
import { neededWhere } from "../query/where.ts";
import { AppError, invalidParameter, invalidPayload } from "../values/errors.ts";
import type { Entity } from "../plans/entity.ts";
import type { ReadPlan } from "../plans/read-plan.ts";
import type { Row } from "../values/row.ts";
import type { Column } from "../values/types/column.ts";
import { keyText, type KeyValue } from "../values/types/key.ts";
import { findRows, scalarOf } from "../query/find-rows.ts";
import type { RecordPlan } from "./record.ts";

/** read's `where`, with a condition at least; defaultScope does not apply. Rejects as read does. */
export const bulkWhere = ({ named, key }: ReadPlan): Grammar<Condition> =>
  meaning(neededWhere(named), (sent) => {
    if (sent === null || !hasCondition(sent))
      throw invalidPayload("where needs at least one condition");
    if (key.length === 0)
      throw invalidParameter("where is not possible: what the endpoint reads has no key");
    return sent;
  });

const hasCondition = (condition: Condition): boolean =>
  !("members" in condition) || condition.members.some(hasCondition);

/** The number of records that must match. */
export const expected = ({
  settings: { bulkRecordsMax: max },
}: Pick<Entity, "settings">): Grammar<number> =>
  wholeNumber({ min: 0, max }, () =>
    invalidPayload(
      `where needs expect: the number of records that must match, a whole number from 0 to ${max}`,
    ),
  );

/** The records of a condition, as a request asks for them. */
export interface Matching {
  readonly where: Condition;
  readonly expect: number;
  /** The columns to read besides those of the key. */
  readonly columns: readonly Column[];
  /** Only these, whose locks were taken; null = all. */
  readonly within: readonly KeyValue[] | null;
}

/** Takes the locks of the records that match now, before the transaction. Null: no locks are needed. */
export async function guardMatching(
  call: Call,
  plan: RecordPlan,
  { where: asked, expect }: Pick<Matching, "where" | "expect">,
): Promise<readonly KeyValue[] | null> {
  if (!call.locks.guardsWrites) return null;
  const keys = await matchingKeys(call.session, plan, { where: asked, expect });
  await call.locks.guardWrite(plan.write, keys);
  return keys;
}

/** The matching records, locked, in the order of the key. Rejects with `unexpectedCount`. */
export async function lockMatching(
  tx: Queries,
  plan: RecordPlan,
  { where: asked, expect, columns, within }: Matching,
): Promise<{ readonly key: KeyValue; readonly row: Row }[]> {
  const { table, key } = plan.write;
  const allowed = within && new Set(within.map(keyText));
  const matching = await matchingKeys(tx, plan, { where: asked, expect });
  const keys = allowed === null ? matching : matching.filter((one) => allowed.has(keyText(one)));
  const search = { source: sourceOf(table), by: key, columns, lock: true };
  const found = await findRows(tx, search, keys);
  // A record may have changed before it was locked.
  const still = new Set<string>();
  for (const some of keyBatches(plan.read.key, keys)) {
    const again = allOf(asked, keyIn(plan.read.key, some));
    for (const value of await keysWhere(tx, plan, { where: again!, limit: null }))
      still.add(keyText(value));
  }
  const locked = keys.flatMap((value) => {
    const row = found.get(keyText(value))?.[0];
    return row !== undefined && still.has(keyText(value)) ? [{ key: value, row }] : [];
  });
  if (locked.length !== expect) throw unexpectedCount(locked.length, expect);
  return locked;
}

/** Rejects with `unexpectedCount` when there are more than expected. */
async function matchingKeys(
  queries: ReadQueries,
  plan: RecordPlan,
  { where: asked, expect }: Pick<Matching, "where" | "expect">,
): Promise<KeyValue[]> {
  const keys = await keysWhere(queries, plan, { where: asked, limit: expect + 1 });
  if (keys.length <= expect) return keys;
  const { source } = plan.read;
  throw unexpectedCount(await queries.count({ kind: "count", source, where: asked }), expect);
}

async function keysWhere(
  queries: ReadQueries,
  { read: { source, key } }: RecordPlan,
  { where: asked, limit }: { where: Condition; limit: number | null },
): Promise<KeyValue[]> {
  const sort = key.map((column) => ({ column, direction: "asc" as const }));
  const rows = await queries.all(selectFrom(source, { columns: key, where: asked, sort, limit }));
  return rows.map((row) => key.map((column) => scalarOf(column, row)));
}

function unexpectedCount(count: number, expect: number): AppError {
  const match = count === 1 ? "1 record matches" : `${count} records match`;
  return new AppError("unexpectedCount", `${match}, not ${expect}; nothing was changed`, {
    data: { count },
  });
}
