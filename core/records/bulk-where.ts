/** Records that a bulk request names by a condition: found as read finds them, counted, and locked. */
import type { Call, Write } from "../calls/action.ts";
import type { Answer } from "../calls/answer.ts";
import type { ReadQueries, Queries, Transaction } from "../query/session.ts";
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
import { guardItems } from "./bulk-keys.ts";
import { type BulkMode, Outcomes, type Storing, storeParts, wholeAnswer } from "./bulk-outcomes.ts";
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

/** One that no value of its column can meet has become an empty `or`. */
const hasCondition = (condition: Condition): boolean =>
  !("members" in condition) ||
  (condition.kind === "or" && condition.members.length === 0) ||
  condition.members.some(hasCondition);

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
interface Matching {
  readonly where: Condition;
  readonly expect: number;
  /** The columns to read besides those of the key. */
  readonly columns: readonly Column[];
  /** Only these, whose locks were taken; null = all. */
  readonly within: Guarded | null;
}

/** A record of a condition, locked until the transaction ends. */
interface Matched {
  readonly key: KeyValue;
  readonly row: Row;
}

/** What becomes of the records of a condition. */
interface MatchingWrite<Item> extends Omit<Matching, "within">, Omit<Storing<Item>, "outcomes"> {
  readonly mode: BulkMode;
  itemOf(matched: Matched): Item;
  /** Whether the caller sees the column or has sent it. */
  isKnown(name: string): boolean;
  readonly message: string;
  readonly hasEtags: boolean;
}

/** Takes the locks of the records that match, then finds and stores them in the transaction. */
export async function beginMatching<Item extends Matched>(
  call: Call,
  plan: RecordPlan,
  asked: MatchingWrite<Item>,
): Promise<Write> {
  const within = await guardMatching(call, plan, asked);
  return {
    isOneStatement: false,
    async run(tx) {
      const matched = await lockMatching(tx, plan, { ...asked, within });
      return storeMatching(tx, matched.map(asked.itemOf), { ...asked, within });
    },
  };
}

/** The records that matched before the transaction, by the texts of their keys; those refused with their errors. */
type Guarded = ReadonlyMap<string, AppError | undefined>;

/**
 * Takes the locks of the records that match now, before the transaction. In mode `each`, a record that another client
 * holds is refused for itself. Null: no locks are needed.
 */
async function guardMatching(
  call: Call,
  plan: RecordPlan,
  { where: asked, expect, mode }: Pick<Matching, "where" | "expect"> & { mode: BulkMode },
): Promise<Guarded | null> {
  if (!call.locks.guardsWrites) return null;
  const keys = await matchingKeys(call.session, plan, { where: asked, expect });
  const outcomes = new Outcomes({ mode, count: keys.length, isKnown: () => true });
  if (mode === "each") {
    const items = keys.map((key, index) => ({ index, key, body: {}, etag: null }));
    await guardItems(call, plan, { items, outcomes });
  } else await call.locks.guardWrite(plan.write, keys);
  return new Map(keys.map((key, index) => [keyText(key), outcomes.refusalOf(index)]));
}

/** The matching records, locked, in the order of the key. Rejects with `unexpectedCount`. */
async function lockMatching(
  tx: Queries,
  plan: RecordPlan,
  { where: asked, expect, columns, within }: Matching,
): Promise<Matched[]> {
  const { table, key } = plan.write;
  const matching = await matchingKeys(tx, plan, { where: asked, expect });
  const keys = within === null ? matching : matching.filter((one) => within.has(keyText(one)));
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

/** Stores the locked records: all of them or none, or each for itself without those that `guardMatching` refused. */
async function storeMatching<Item extends Matched>(
  tx: Transaction,
  matched: readonly Item[],
  { within, ...asked }: MatchingWrite<Item> & Pick<Matching, "within">,
): Promise<Answer> {
  const { mode, message, hasEtags, ...storing } = asked;
  if (mode === "all") {
    const done = matched.length === 0 ? [] : await storing.store(matched, tx);
    return wholeAnswer(done, { message, status: 200, hasEtags });
  }
  const outcomes = new Outcomes({
    mode,
    count: matched.length,
    isKnown: (_index, name) => asked.isKnown(name),
  });
  const open = matched.flatMap((item, index) => {
    const refusal = within?.get(keyText(item.key));
    if (refusal) outcomes.refuse(index, refusal);
    return refusal ? [] : [{ ...item, index }];
  });
  await storeParts<Item & { readonly index: number }>(tx, open, { ...storing, outcomes });
  return outcomes.answer({ message, status: 200 });
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
