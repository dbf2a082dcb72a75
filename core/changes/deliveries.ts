/**
 * The rows of the table `rowgate_deliveries`: what webhooks are still to be told, each with the whole body of its
 * request. They are stored in the transaction of the change, so nothing is sent of a write that is undone, and nothing
 * is lost when the process ends. `core/webhooks` sends them.
 */
import type { RecordedTable, WebhookEvent, WebhookRule } from "../plans/change-tables.ts";
import type { DbQueries, UnscopedQueries } from "../query/session.ts";
import { hashOf } from "../values/hash.ts";
import type { Row } from "../values/row.ts";
import type { Scalar } from "../values/scalar.ts";
import type { Table } from "../values/types/column.ts";
import { imageKey, type RowChange } from "./change-book.ts";
import { type Author, type ChangeKind, differs, changeKind, pick } from "./change-log.ts";
import { ledgerColumns } from "../query/ledger-columns.ts";
import { holds } from "./holds.ts";
import { portionsOf } from "./portions.ts";
import { insertInto } from "../query/write-statements.ts";

const names = [
  "delivery_id",
  "message_id",
  "project",
  "webhook",
  "lane",
  "state",
  "due_at",
  "claim",
  "tries",
  "created_at",
  "failed_at",
  "reason",
  "body",
] as const;

export const deliveryColumns = (ledger: Table) => ledgerColumns(ledger, names);

/** Stores what webhooks are told of the changes, as the last statements of their transaction. */
export async function storeDeliveries(
  tx: DbQueries,
  { ledger, changes, author }: { ledger: Table; changes: readonly RowChange[]; author: Author },
): Promise<void> {
  const {
    delivery_id,
    message_id,
    project,
    webhook,
    lane,
    state,
    due_at,
    tries,
    created_at,
    body,
  } = deliveryColumns(ledger);
  const at = author.now();
  const rows = changes.flatMap((changed) =>
    toldOf(changed).map(({ rule, ...told }): Scalar[] => {
      const id = author.newId();
      return [
        id,
        rule.project,
        rule.webhook,
        laneOf(rule, changed),
        "waiting",
        at,
        0n,
        at,
        bodyOf(rule, { ...told, recorded: changed.recorded, id, at, author }),
      ];
    }),
  );
  // No scope applies to the service's own table.
  const own = tx as unknown as UnscopedQueries;
  for (const portion of portionsOf(rows))
    await own.insert(
      insertInto(ledger, {
        key: [delivery_id],
        columns: [message_id, project, webhook, lane, state, due_at, tries, created_at, body],
        rows: portion,
      }),
    );
}

/** What is sent in order: the changes of one record, for one webhook. */
const laneOf = ({ project, webhook }: WebhookRule, { recorded, before, after }: RowChange) => {
  const key = imageKey(recorded, (after ?? before)!).map(String);
  return hashOf(JSON.stringify([project, webhook, recorded.table.identity, ...key]));
};

interface Told {
  readonly event: WebhookEvent;
  /** Null: it is deleted. */
  readonly record: Row | null;
  /** Null: there was none. */
  readonly old: Row | null;
}

const events: Readonly<Record<ChangeKind, WebhookEvent>> = {
  create: "create",
  restore: "create",
  update: "update",
  mark: "delete",
  delete: "delete",
};

/** The webhooks that are told of the change. */
function toldOf({ recorded, before, after }: RowChange): (Told & { rule: WebhookRule })[] {
  const kind = recorded.webhooks.length === 0 ? null : changeKind(recorded, before, after);
  if (kind === null) return [];
  const event = events[kind];
  const record = event === "delete" ? null : after;
  const old = event === "create" ? null : before;
  return recorded.webhooks
    .filter(({ on, columns, when }) => {
      if (!on.has(event) || (when !== null && !holds(when, (record ?? old)!))) return false;
      if (event !== "update" || columns === null) return true;
      return [...columns].some((name) => differs(name, before!, after!));
    })
    .map((rule) => ({ rule, event, record, old }));
}

const endings: Readonly<Record<WebhookEvent, string>> = {
  create: "created",
  update: "updated",
  delete: "deleted",
};

function bodyOf(
  { project, endpoint, namesRecords }: WebhookRule,
  {
    event,
    recorded: { key, kept },
    record,
    old,
    id,
    at,
    author,
  }: Told & { recorded: RecordedTable; id: string; at: string; author: Author },
): string {
  const shown = (row: Row | null): Row | null => row && pick(row, (name) => kept.has(name));
  const isKey = (name: string): boolean => key.some((column) => column.name === name);
  return JSON.stringify({
    id,
    type: `${endpoint}.${endings[event]}`,
    at,
    project,
    endpoint,
    key: namesRecords ? pick((record ?? old)!, isKey) : null,
    record: shown(record),
    old: shown(old),
    by: author.by,
    request_id: author.requestId,
  });
}
