/** Deliveries that were given up: operators see them and have them sent again. */
import { deliveryColumns } from "../changes/deliveries.ts";
import type { DbSession, UnscopedQueries } from "../query/session.ts";
import { allOf, type Condition, equals, selectFrom, sourceOf } from "../query/statement.ts";
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
  readonly session: DbSession;
  readonly ledger: Table;
  readonly project: string;
}

/** The oldest first, `limits.hookDeadKeptMax` at most. */
export async function failedDeliveries(place: DeliveryPlace): Promise<FailedDelivery[]> {
  const { message_id, webhook, tries, failed_at, reason, body, delivery_id } = deliveryColumns(
    place.ledger,
  );
  const rows = await (place.session as unknown as UnscopedQueries).all(
    selectFrom(sourceOf(place.ledger), {
      columns: [message_id, webhook, tries, failed_at, reason, body],
      where: isFailed(place),
      sort: [{ column: delivery_id, direction: "asc" }],
      limit: limits.hookDeadKeptMax,
    }),
  );
  return rows.map((row) => {
    const { endpoint, type, key, request_id } = parseOwnJson(String(row["body"])) as Row;
    return {
      id: String(row["message_id"]),
      project: place.project,
      webhook: String(row["webhook"]),
      endpoint: String(endpoint),
      type: String(type),
      key: key as Row | null,
      requestId: String(request_id),
      tries: Number(row["tries"]),
      failedAtMs: Date.parse(String(row["failed_at"])),
      reason: String(row["reason"]),
    };
  });
}

/** Has it sent again, with all of its tries. False: it is not there any more. */
export async function retryDelivery(
  place: DeliveryPlace,
  { id, now }: { readonly id: string; readonly now: string },
): Promise<boolean> {
  const { message_id, state, due_at, claim, tries, failed_at } = deliveryColumns(place.ledger);
  const changed = await (place.session as unknown as UnscopedQueries).updateMany({
    kind: "updateMany",
    table: place.ledger,
    key: [message_id],
    columns: [due_at],
    rows: [{ keyValue: [id], values: [now] }],
    guard: isFailed(place),
    set: [
      { kind: "set", column: state, value: "waiting" },
      { kind: "set", column: tries, value: 0n },
      { kind: "set", column: claim, value: null },
      { kind: "set", column: failed_at, value: null },
    ],
    returning: [],
  });
  return changed > 0;
}

function isFailed({ ledger, project }: DeliveryPlace): Condition {
  const columns = deliveryColumns(ledger);
  return allOf(equals(columns.project, project), equals(columns.state, "failed"))!;
}
