/**
 * Takes deliveries from the table `rowgate_deliveries`, for one process at a time. Those of one record for one webhook
 * have the same `lane`, of which only the oldest is taken; the others wait until its time. A process that takes a
 * delivery sets `due_at` to when others may take it over, and `claim` to a text of its own.
 */
import type { DbSession, UnscopedQueries } from "../query/session.ts";
import { allOf, type Condition, equals, selectFrom, sourceOf } from "../query/statement.ts";
import type { QueueCounts } from "../jobs/queue.ts";
import { deliveryColumns } from "../changes/deliveries.ts";
import { limits } from "../values/limits.ts";
import type { Row } from "../values/row.ts";
import type { Scalar } from "../values/scalar.ts";
import type { Column, Table } from "../values/types/column.ts";

/** A delivery that this process sends. */
export interface Delivery {
  readonly id: bigint;
  /** The `id` in its body. */
  readonly messageId: string;
  readonly project: string;
  readonly webhook: string;
  readonly lane: string;
  /** Those that failed. */
  readonly tries: number;
  readonly body: string;
  readonly claim: string;
}

/** What became of a try. `again`: as if there had been none. */
export type Outcome =
  | { readonly kind: "sent" }
  | { readonly kind: "again" }
  | {
      readonly kind: "later";
      readonly tries: number;
      readonly atMs: number;
      readonly reason: string;
    }
  | { readonly kind: "failed"; readonly tries: number; readonly reason: string };

export interface QueueOptions {
  readonly project: string;
  readonly now: () => string;
  readonly newId: () => string;
  /** How long a delivery belongs to the process that takes it. */
  readonly leaseMs: number;
}

export interface DeliveryQueue {
  /** Deliveries of these webhooks that are due, `limit` at most, each of another lane. */
  take(
    session: DbSession,
    asked: { readonly webhooks: readonly string[]; readonly limit: number },
  ): Promise<Delivery[]>;
  /** Stores the outcome, and takes the next delivery of the lane; null: there is none, or `takesNext` is false. */
  settle(
    session: DbSession,
    delivery: Delivery,
    { outcome, takesNext }: { outcome: Outcome; takesNext: boolean },
  ): Promise<Delivery | null>;
  counts(session: DbSession): Promise<Omit<QueueCounts, "active" | "completed">>;
}

export function createDeliveryQueue(options: QueueOptions): DeliveryQueue {
  const { project } = options;
  return {
    async take(session, { webhooks, limit }) {
      const ledger = await session.ledger("deliveries");
      // Each round puts off what it found and could not take, so that the next one finds others.
      for (let round = 0; round < roundsMax; round++) {
        const lanes = await dueLanes(session, { ledger, webhooks, options });
        const heads =
          lanes.length === 0 ? [] : await headsOf(session, { ledger, lanes, webhooks, project });
        if (heads.length === 0) return [];
        const taken = await takeHeads(session, { ledger, heads, limit, options });
        if (taken.length > 0) return taken;
      }
      return [];
    },

    async settle(session, delivery, { outcome, takesNext }) {
      const ledger = await session.ledger("deliveries");
      return session.tx(async (tx) => {
        const own = tx as unknown as UnscopedQueries;
        await storeOutcome(own, { ledger, delivery, outcome, now: options.now() });
        if (!takesNext) return null;
        const next = await nextOf(own, ledger, delivery);
        if (next === null || !isFree(next, options.now())) return null;
        const [taken = null] = await claim(own, { ledger, rows: [next], options });
        return taken;
      });
    },

    async counts(session) {
      const ledger = await session.ledger("deliveries");
      const columns = deliveryColumns(ledger);
      const count = (...conditions: Condition[]): Promise<number> =>
        (session as unknown as UnscopedQueries).count({
          kind: "count",
          source: sourceOf(ledger),
          where: allOf(equals(columns.project, project), ...conditions),
        });
      const isWaiting = equals(columns.state, "waiting");
      return {
        waiting: await count(isWaiting, equals(columns.tries, 0n)),
        delayed: await count(isWaiting, compare(columns.tries, ">", 0n)),
        failed: await count(equals(columns.state, "failed")),
      };
    },
  };
}

const roundsMax = 20;

const compare = (column: Column, operator: "<=" | "<" | ">", value: Scalar): Condition => ({
  kind: "compare",
  column,
  operator,
  value,
});
const isOneOf = (column: Column, values: readonly Scalar[]): Condition => ({
  kind: "in",
  column,
  values,
  negated: false,
});

/** The lanes of the deliveries that are due longest. */
async function dueLanes(
  session: DbSession,
  {
    ledger,
    webhooks,
    options: { project, now },
  }: { ledger: Table; webhooks: readonly string[]; options: QueueOptions },
): Promise<string[]> {
  const columns = deliveryColumns(ledger);
  const rows = await (session as unknown as UnscopedQueries).all(
    selectFrom(sourceOf(ledger), {
      columns: [columns.lane],
      where: allOf(
        equals(columns.project, project),
        equals(columns.state, "waiting"),
        compare(columns.due_at, "<=", now()),
        isOneOf(columns.webhook, webhooks),
      ),
      sort: [
        { column: columns.due_at, direction: "asc" },
        { column: columns.delivery_id, direction: "asc" },
      ],
      limit: limits.deliveriesLookedAt,
    }),
  );
  return [...new Set(rows.map((row) => String(row["lane"])))];
}

/** The oldest delivery of each lane, due or not, in the order of the lanes. */
async function headsOf(
  session: DbSession,
  {
    ledger,
    lanes,
    webhooks,
    project,
  }: { ledger: Table; lanes: readonly string[]; webhooks: readonly string[]; project: string },
): Promise<Row[]> {
  const { delivery_id, lane, state, due_at, ...columns } = deliveryColumns(ledger);
  const rows = await (session as unknown as UnscopedQueries).all(
    selectFrom(sourceOf(ledger), {
      columns: [delivery_id, lane, due_at],
      where: allOf(
        isOneOf(lane, lanes),
        equals(state, "waiting"),
        // A lane is a hash, which others can share.
        equals(columns.project, project),
        isOneOf(columns.webhook, webhooks),
      ),
      sort: [{ column: delivery_id, direction: "asc" }],
      perGroup: { by: [lane], rows: 1 },
    }),
  );
  const places = new Map(lanes.map((name, at) => [name, at]));
  return rows.toSorted(
    (one, other) => places.get(String(one["lane"]))! - places.get(String(other["lane"]))!,
  );
}

interface Heads {
  readonly ledger: Table;
  readonly heads: readonly Row[];
  readonly limit: number;
  readonly options: QueueOptions;
}

/** Takes heads that are due. Where one is not, its lane is put off until then. */
async function takeHeads(
  session: DbSession,
  { ledger, heads, limit, options }: Heads,
): Promise<Delivery[]> {
  const columns = deliveryColumns(ledger);
  const now = options.now();
  const ready = heads.filter((head) => timeOf(head) <= Date.parse(now)).slice(0, limit);
  const early = heads.filter((head) => timeOf(head) > Date.parse(now));
  const isDue = allOf(equals(columns.state, "waiting"), compare(columns.due_at, "<=", now))!;
  return session.tx(async (tx) => {
    const own = tx as unknown as UnscopedQueries;
    if (early.length > 0)
      await own.updateMany({
        kind: "updateMany",
        table: ledger,
        key: [columns.lane],
        columns: [columns.due_at],
        rows: early.map((head) => ({
          keyValue: [String(head["lane"])],
          values: [new Date(timeOf(head)).toISOString()],
        })),
        guard: isDue,
        set: [],
        returning: [],
      });
    if (ready.length === 0) return [];
    const rows = await own.all(
      selectFrom(sourceOf(ledger), {
        columns: Object.values(columns),
        where: allOf(
          isOneOf(
            columns.delivery_id,
            ready.map((head) => idOf(head)),
          ),
          isDue,
        ),
        sort: [{ column: columns.delivery_id, direction: "asc" }],
        lock: true,
      }),
    );
    return claim(own, { ledger, rows, options });
  });
}

const idOf = (row: Row): bigint => BigInt(String(row["delivery_id"]));
const timeOf = (row: Row): number => Date.parse(String(row["due_at"]));

/** The rows are locked. */
async function claim(
  own: UnscopedQueries,
  { ledger, rows, options }: { ledger: Table; rows: readonly Row[]; options: QueueOptions },
): Promise<Delivery[]> {
  if (rows.length === 0) return [];
  const { delivery_id, due_at, claim: claimed } = deliveryColumns(ledger);
  const token = options.newId();
  const untilMs = Date.parse(options.now()) + options.leaseMs;
  await own.updateMany({
    kind: "updateMany",
    table: ledger,
    key: [delivery_id],
    columns: [due_at, claimed],
    rows: rows.map((row) => ({
      keyValue: [idOf(row)],
      values: [new Date(untilMs).toISOString(), token],
    })),
    guard: null,
    set: [],
    returning: [],
  });
  return rows.map((row) => ({
    id: idOf(row),
    messageId: String(row["message_id"]),
    project: String(row["project"]),
    webhook: String(row["webhook"]),
    lane: String(row["lane"]),
    tries: Number(row["tries"]),
    body: String(row["body"]),
    claim: token,
  }));
}

/** The oldest delivery that the lane still has, locked; null = there is none. */
function nextOf(
  own: UnscopedQueries,
  ledger: Table,
  { lane, project, webhook }: Delivery,
): Promise<Row | null> {
  const columns = deliveryColumns(ledger);
  return own.one(
    selectFrom(sourceOf(ledger), {
      columns: Object.values(columns),
      where: allOf(
        equals(columns.lane, lane),
        equals(columns.state, "waiting"),
        equals(columns.project, project),
        equals(columns.webhook, webhook),
      ),
      sort: [{ column: columns.delivery_id, direction: "asc" }],
      limit: 1,
      lock: true,
    }),
  );
}

/** Whether it waits for nothing, or only for the delivery before it. */
const isFree = (row: Row, now: string): boolean =>
  timeOf(row) <= Date.parse(now) || ((row["claim"] ?? null) === null && Number(row["tries"]) === 0);

/** What was delivered is removed, whoever has it now. A failure counts as long as the delivery is this process's. */
async function storeOutcome(
  own: UnscopedQueries,
  {
    ledger,
    delivery,
    outcome,
    now,
  }: { ledger: Table; delivery: Delivery; outcome: Outcome; now: string },
): Promise<void> {
  const columns = deliveryColumns(ledger);
  const { delivery_id: id, state, due_at, claim: claimed, tries, failed_at, reason } = columns;
  if (outcome.kind === "sent") {
    const where = equals(id, delivery.id);
    await own.delete({ kind: "delete", table: ledger, key: [id], where, returning: [] });
    return;
  }
  const { kind } = outcome;
  const dueAt = kind === "later" ? new Date(outcome.atMs).toISOString() : now;
  await own.updateOne({
    kind: "update",
    table: ledger,
    key: [id],
    keyValue: [delivery.id],
    guard: equals(claimed, delivery.claim),
    set: [
      { kind: "set", column: claimed, value: null },
      { kind: "set", column: due_at, value: dueAt },
      ...(kind === "again"
        ? []
        : ([
            { kind: "set", column: tries, value: BigInt(outcome.tries) },
            { kind: "set", column: reason, value: outcome.reason },
          ] as const)),
      ...(kind === "failed"
        ? ([
            { kind: "set", column: state, value: "failed" },
            { kind: "set", column: failed_at, value: now },
          ] as const)
        : []),
    ],
    returning: [],
  });
}
