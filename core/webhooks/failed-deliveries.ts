/** Deliveries that were given up: operators see them and have them sent again. */
import { deliveryColumns } from "../changes/deliveries.ts";
import type { DbSession, UnscopedQueries } from "../query/session.ts";
import { allOf, type Condition, equals, selectFrom, sourceOf } from "../query/statement.ts";
import { compares } from "../query/key-conditions.ts";
import { setTo, updateRows } from "../query/write-statements.ts";
import { parseOwnJson } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import type { Row } from "../values/row.ts";
import type { Table } from "../values/types/column.ts";

export interface FailedDelivery {
  /** The `id` of its body. */
  readonly id: string;
  readonly project: string;
  readonly webhook: string;
  readonly endpoint: string;
  /** `orders.updated` */
  readonly type: string;
  readonly key: Row | null;
  readonly requestId: string;
  readonly tries: number;
  /** Milliseconds since 1970. */
  readonly failedAtMs: number;
  /** Of the last try. */
  readonly reason: string;
}

/** Where the deliveries of a project are. */
export interface DeliveryPlace {
  /** A new one, with a time limit of its own. */
  session(): DbSession;
  readonly ledger: Table;
  readonly project: string;
}

/** All of them, the oldest first. */
export async function failedDeliveries(place: DeliveryPlace): Promise<FailedDelivery[]> {
  const { message_id, webhook, tries, failed_at, reason, body, delivery_id } = deliveryColumns(
    place.ledger,
  );
  const found: FailedDelivery[] = [];
  const limit = limits.deliveriesLookedAt;
  for (let after = 0n; ;) {
    const rows = await (place.session() as unknown as UnscopedQueries).all(
      selectFrom(sourceOf(place.ledger), {
        columns: [delivery_id, message_id, webhook, tries, failed_at, reason, body],
        where: allOf(isFailed(place), compares(delivery_id, ">", after)),
        sort: [{ column: delivery_id, direction: "asc" }],
        limit,
      }),
    );
    found.push(...rows.map((row) => failedIn(row, place)));
    if (rows.length < limit) return found;
    after = BigInt(String(rows.at(-1)!["delivery_id"]));
  }
}

/** Without its record, which can be large. */
function failedIn(row: Row, { project }: DeliveryPlace): FailedDelivery {
  const { endpoint, type, key, request_id } = parseOwnJson(String(row["body"])) as Row;
  return {
    id: String(row["message_id"]),
    project,
    webhook: String(row["webhook"]),
    endpoint: String(endpoint),
    type: String(type),
    key: key as Row | null,
    requestId: String(request_id),
    tries: Number(row["tries"]),
    failedAtMs: Date.parse(String(row["failed_at"])),
    reason: String(row["reason"]),
  };
}

/** Has them sent again, with all of their tries. Resolves with the number of those that are still there. */
export async function retryDeliveries(
  place: DeliveryPlace,
  { ids, now }: { readonly ids: readonly string[]; readonly now: string },
): Promise<number> {
  const { message_id, state, due_at, claim, tries, failed_at } = deliveryColumns(place.ledger);
  let count = 0;
  for (let from = 0; from < ids.length; from += limits.inValuesMax)
    count += await (place.session() as unknown as UnscopedQueries).updateMany(
      updateRows(place.ledger, {
        key: [message_id],
        columns: [due_at],
        rows: ids
          .slice(from, from + limits.inValuesMax)
          .map((id) => ({ keyValue: [id], values: [now] })),
        guard: isFailed(place),
        set: [
          setTo(state, "waiting"),
          setTo(tries, 0n),
          setTo(claim, null),
          setTo(failed_at, null),
        ],
      }),
    );
  return count;
}

function isFailed({ ledger, project }: DeliveryPlace): Condition {
  const columns = deliveryColumns(ledger);
  return allOf(equals(columns.project, project), equals(columns.state, "failed"))!;
}
