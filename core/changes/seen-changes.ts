/** What a caller sees of recorded changes: those within its scope, and of each the columns that it may see. */
import { ownRowsOf, past } from "../callers/scoped-session.ts";
import type { RecordedTable } from "../plans/change-tables.ts";
import type { Entity } from "../plans/entity.ts";
import type { Runtime } from "../plans/runtime.ts";
import type { WritePlan } from "../plans/write-plan.ts";
import type { ReadSession, UnscopedQueries } from "../query/session.ts";
import { type Condition, sourceOf } from "../query/statement.ts";
import type { TooFar } from "../lists/page.ts";
import { limits } from "../values/limits.ts";
import type { Row } from "../values/row.ts";
import type { Json } from "../values/json.ts";
import type { Table } from "../values/types/column.ts";
import { type RecordedChange, findChanges } from "./change-log.ts";
import { knownOrder } from "./change-order.ts";
import { holds } from "./holds.ts";
import type { Seal } from "./sealed-numbers.ts";

/** What history and revert need of an endpoint. */
export interface HistoryPlan {
  readonly write: WritePlan;
  readonly recorded: RecordedTable;
}

export function historyPlan({ write, changes, enabled }: Entity): HistoryPlan | null {
  const recorded = write && changes.recorded.get(write.table.identity);
  return recorded && enabled.has("history") ? { write, recorded } : null;
}

/** Changes of the table, newest first, and their number. */
export interface SeenChanges {
  readonly changes: readonly RecordedChange[];
  readonly total: number;
}

interface Asked {
  readonly ledger: Table;
  readonly where: Condition;
  readonly offset: number;
  readonly tooFar: TooFar | null;
  readonly size: number;
}

/**
 * A page of the changes that match, are within the caller's scope, and changed something that the caller sees. Both are
 * told by what was recorded, which no index knows, so for callers with a scope or hidden columns all matching changes
 * are read.
 */
export function readChanges(
  session: ReadSession,
  plan: HistoryPlan,
  asked: Asked,
): Promise<SeenChanges> {
  const { write, recorded } = plan;
  const rows = ownRowsOf(session as unknown as UnscopedQueries, sourceOf(write.table));
  const hidesSome = [...recorded.shown].some((name) => !write.shown.has(name));
  const isSeen = (change: RecordedChange): boolean =>
    (rows === null || liesWithin(change, rows)) &&
    (!hidesSome || change.kind !== "update" || Object.keys(seenValues(change, plan)).length > 0);
  return session.snapshot(async (queries) => {
    const own = past(queries as unknown as UnscopedQueries, "changeLog");
    const { ledger, where, offset, tooFar, size } = asked;
    if (rows === null && !hidesSome) {
      const total = await own.count({ kind: "count", source: sourceOf(ledger), where });
      if (tooFar !== null && total > tooFar.offsetMax) throw tooFar.fault();
      const changes = await findChanges(own, { ledger, where, limit: size, offset });
      return { changes, total };
    }
    const seen: RecordedChange[] = [];
    for (let from = 0; ; from += limits.inValuesMax) {
      const some = await findChanges(own, {
        ledger,
        where,
        limit: limits.inValuesMax,
        offset: from,
      });
      seen.push(...some.filter(isSeen));
      if (some.length < limits.inValuesMax) break;
    }
    return { changes: seen.slice(offset, offset + size), total: seen.length };
  });
}

/** What seals the ids of changes. */
export async function changeSeal({
  session,
  newId,
  digest,
}: Pick<Runtime, "newId" | "digest"> & { readonly session: ReadSession }): Promise<Seal> {
  const order = await session.ledger("change_order");
  const own = past(session as unknown as UnscopedQueries, "changeLog");
  const { logId: secret } = await knownOrder(own, order, newId);
  return { digest, secret, kind: "change" };
}

/** Whether the record was, or came to be, one of these rows. */
const liesWithin = ({ before, after, scoped }: RecordedChange, rows: Condition): boolean =>
  [
    { ...before, ...scoped.before },
    { ...after, ...scoped.after },
  ].some((image) => holds(rows, image));

/** What the change did to each column that the caller sees: its value before and after. */
export function seenValues(
  { kind, before, after }: RecordedChange,
  { write: { shown }, recorded }: HistoryPlan,
): Record<string, { from: Json; to: Json }> {
  const isUpdate = kind === "update";
  const names = [...shown.keys()].filter(
    (name) =>
      !recorded.stamps.has(name) && [before, after].some((row) => row && Object.hasOwn(row, name)),
  );
  const value = (row: Row | null, name: string): Json => row?.[name] ?? null;
  return Object.fromEntries(
    names
      .filter((name) => !isUpdate || Object.hasOwn(before ?? {}, name))
      .map((name) => [name, { from: value(before, name), to: value(after, name) }]),
  );
}

/** The key as answers show it; null for callers from whom it is hidden. */
export const seenKey = ({ key }: RecordedChange, { write }: HistoryPlan): Row | null =>
  write.namesRecords ? key : null;
