/**
 * Takes deliveries from the table `rowgate_deliveries`, for one process at a time. Those of one record for one webhook
 * have the same `lane`, of which only the oldest is taken; the others wait until its time. A process that takes a
 * delivery sets `due_at` to when others may take it over, and `claim` to a text of its own.
 */
import type { DbQueries, DbSession, UnscopedQueries } from "../query/session.ts";
import { allOf, type Condition, equals, selectFrom, sourceOf } from "../query/statement.ts";
import { compares, isOneOf } from "../query/key-conditions.ts";
import { deleteFrom, setTo, updateRow, updateRows } from "../query/write-statements.ts";
import type { QueueCounts } from "../jobs/queue.ts";
import { deliveryColumns } from "../changes/deliveries.ts";
import { limits } from "../values/limits.ts";
import type { Row } from "../values/row.ts";
import type { Table } from "../values/types/column.ts";

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
export type TryOutcome =
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

/** A delivery that was tried. */
export interface Tried {
  readonly delivery: Delivery;
  readonly outcome: TryOutcome;
}

export interface DeliveryChoice {
  readonly webhooks: readonly string[];
  readonly limit: number;
  /** Ids of the deliveries that this process is sending. */
  readonly busy: ReadonlySet<bigint>;
}

export interface DeliveryQueue {
  /** Deliveries of these webhooks that are due, `limit` at most, each of another lane. */
  take(session: DbSession, asked: DeliveryChoice): Promise<Delivery[]>;
  /**
   * Stores the outcomes, and takes the next delivery of each lane whose first one was sent or has failed. `takesNext`
   * false: takes none.
   */
  settle(
    session: DbSession,
    tried: readonly Tried[],
    { takesNext }: { takesNext: boolean },
  ): Promise<Delivery[]>;
  counts(session: DbSession): Promise<Omit<QueueCounts, "active" | "completed">>;
}

export function createDeliveryQueue(options: QueueOptions): DeliveryQueue {
  return {
    async take(session, asked) {
      const ledger = await session.ledger("deliveries");
      const taken: Delivery[] = [];
      // Each round puts off what it found and could not take, so that the next one finds others.
      for (let round = 0; round < roundsMax; round++) {
        const rest = { ...asked, limit: asked.limit - taken.length };
        const looking = { ledger, asked: rest, options };
        try {
          const { lanes, isAll } = await dueLanes(session, looking);
          taken.push(...(await takeLanes(session, { lanes, ...looking })));
          if (isAll || taken.length >= asked.limit) break;
        } catch (error) {
          // What was taken before is sent.
          if (taken.length === 0) throw error;
          break;
        }
      }
      return taken;
    },

    async settle(session, tried, { takesNext }) {
      const ledger = await session.ledger("deliveries");
      const over = tried.filter(({ outcome: { kind } }) => kind === "sent" || kind === "failed");
      const asked: DeliveryChoice = {
        webhooks: [...new Set(over.map(({ delivery }) => delivery.webhook))],
        limit: over.length,
        busy: new Set(),
      };
      const lanes = over.map(({ delivery }) => delivery.lane);
      const now = options.now();
      const store = (queries: DbQueries): Promise<void> =>
        storeOutcomes(queries as unknown as UnscopedQueries, { ledger, tried, now });
      const isOne = tried.every(({ outcome: { kind } }) => kind === "sent");
      await (isOne ? store(session) : session.tx(store));
      // After the commit: a process that still saw these deliveries can have put off what came after them.
      return takesNext ? takeLanes(session, { ledger, lanes, asked, options }) : [];
    },

    async counts(session) {
      const ledger = await session.ledger("deliveries");
      const columns = deliveryColumns(ledger);
      const count = (...conditions: Condition[]): Promise<number> =>
        (session as unknown as UnscopedQueries).count({
          kind: "count",
          source: sourceOf(ledger),
          where: allOf(equals(columns.project, options.project), ...conditions),
        });
      const isWaiting = equals(columns.state, "waiting");
      const isLater = compares(columns.due_at, ">", options.now());
      const all = await count(isWaiting);
      // Only rows that are not due are looked at; a backlog is counted by the index.
      const delayed = await count(isWaiting, isLater, compares(columns.tries, ">", 0n));
      const failed = await count(equals(columns.state, "failed"));
      return { waiting: Math.max(0, all - delayed), delayed, failed };
    },
  };
}

const roundsMax = 20;

/** How long others of a lane wait before it is looked at again whether the delivery before them was sent. */
const besideMs = 1_000;

interface Looking {
  readonly ledger: Table;
  readonly asked: DeliveryChoice;
  readonly options: QueueOptions;
}

/** Of these webhooks, and not sent yet. */
function isWaiting({ ledger, asked: { webhooks }, options: { project } }: Looking): Condition {
  const columns = deliveryColumns(ledger);
  return allOf(
    equals(columns.project, project),
    equals(columns.state, "waiting"),
    isOneOf(columns.webhook, webhooks),
  )!;
}

/** The lanes of the deliveries that are due longest. `isAll`: no other one is due. */
async function dueLanes(
  session: DbSession,
  looking: Looking,
): Promise<{ readonly lanes: readonly string[]; readonly isAll: boolean }> {
  const { lane, due_at, delivery_id } = deliveryColumns(looking.ledger);
  const rows = await (session as unknown as UnscopedQueries).all(
    selectFrom(sourceOf(looking.ledger), {
      columns: [lane],
      where: allOf(isWaiting(looking), compares(due_at, "<=", looking.options.now())),
      sort: [
        { column: due_at, direction: "asc" },
        { column: delivery_id, direction: "asc" },
      ],
      limit: limits.deliveriesLookedAt,
    }),
  );
  const isAll = rows.length < limits.deliveriesLookedAt;
  return { lanes: [...new Set(rows.map(laneIn))], isAll };
}

/** Takes the oldest delivery of each of the lanes. Where it is not due, the others of its lane are put off until then. */
async function takeLanes(
  session: DbSession,
  { lanes, ...looking }: Looking & { readonly lanes: readonly string[] },
): Promise<Delivery[]> {
  const { ledger, asked, options } = looking;
  if (lanes.length === 0) return [];
  const columns = deliveryColumns(ledger);
  const { delivery_id, lane, due_at, tries, claim: claimed } = columns;
  const found = await (session as unknown as UnscopedQueries).all(
    selectFrom(sourceOf(ledger), {
      columns: [delivery_id, lane, due_at, tries, claimed],
      where: allOf(isOneOf(lane, lanes), isWaiting(looking)),
      sort: [{ column: delivery_id, direction: "asc" }],
      perGroup: { by: [lane], rows: 1 },
    }),
  );
  const places = new Map(lanes.map((name, at) => [name, at]));
  const heads = found.toSorted(
    (one, other) => places.get(laneIn(one))! - places.get(laneIn(other))!,
  );
  const now = options.now();
  const isReady = (head: Row): boolean => isFree(head, now) && !asked.busy.has(idOf(head));
  if (heads.length === 0) return [];
  return session.tx(async (tx) => {
    const own = tx as unknown as UnscopedQueries;
    await putOff(own, { heads: heads.filter((head) => !isReady(head)), now, ...looking });
    const ready = heads.filter(isReady).slice(0, asked.limit);
    if (ready.length === 0) return [];
    const rows = await own.all(
      selectFrom(sourceOf(ledger), {
        columns: Object.values(columns),
        where: allOf(isOneOf(delivery_id, ready.map(idOf)), isWaiting(looking)),
        sort: [{ column: delivery_id, direction: "asc" }],
        lock: true,
      }),
    );
    // Another process can have taken some before they were locked.
    return claim(own, { ledger, rows: rows.filter((row) => isFree(row, now)), options });
  });
}

/** Whether it is due, or waits only for a delivery before it. */
const isFree = (row: Row, now: string): boolean =>
  timeOf(row) <= Date.parse(now) || ((row["claim"] ?? null) === null && Number(row["tries"]) === 0);

/** What is due in the lanes of these deliveries waits for them. */
async function putOff(
  own: UnscopedQueries,
  { heads, now, ...looking }: Looking & { readonly heads: readonly Row[]; readonly now: string },
): Promise<void> {
  const { ledger, asked, options } = looking;
  const { lane, due_at } = deliveryColumns(ledger);
  if (heads.length === 0) return;
  const nowMs = Date.parse(now);
  const untilMs = (head: Row): number => {
    if ((head["claim"] ?? null) === null) return timeOf(head);
    // One that this process still sends stays its own. Others may end at any time, also without taking the next one.
    const isOwn = timeOf(head) <= nowMs && asked.busy.has(idOf(head));
    return isOwn ? nowMs + options.leaseMs : Math.min(timeOf(head), nowMs + besideMs);
  };
  await own.updateMany(
    updateRows(ledger, {
      key: [lane],
      columns: [due_at],
      rows: heads.map((head) => ({
        keyValue: [laneIn(head)],
        values: [new Date(untilMs(head)).toISOString()],
      })),
      guard: allOf(isWaiting(looking), compares(due_at, "<=", now)),
    }),
  );
}

const idOf = (row: Row): bigint => BigInt(String(row["delivery_id"]));
const laneIn = (row: Row): string => String(row["lane"]);
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
  await own.updateMany(
    updateRows(ledger, {
      key: [delivery_id],
      columns: [due_at, claimed],
      rows: rows.map((row) => ({
        keyValue: [idOf(row)],
        values: [new Date(untilMs).toISOString(), token],
      })),
    }),
  );
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

/** What was delivered is removed, whoever has it now. A failure counts as long as the delivery is this process's. */
async function storeOutcomes(
  own: UnscopedQueries,
  { ledger, tried, now }: { ledger: Table; tried: readonly Tried[]; now: string },
): Promise<void> {
  const columns = deliveryColumns(ledger);
  const { delivery_id: id, state, due_at, claim: claimed, tries, failed_at, reason } = columns;
  const sent = tried.filter(({ outcome: { kind } }) => kind === "sent");
  if (sent.length > 0)
    await own.delete(
      deleteFrom(ledger, {
        key: [id],
        where: isOneOf(
          id,
          sent.map(({ delivery }) => delivery.id),
        ),
      }),
    );
  for (const { delivery, outcome } of tried) {
    if (outcome.kind === "sent") continue;
    const dueAt = outcome.kind === "later" ? new Date(outcome.atMs).toISOString() : now;
    await own.updateOne(
      updateRow(ledger, {
        key: [id],
        keyValue: [delivery.id],
        guard: equals(claimed, delivery.claim),
        set: [
          setTo(claimed, null),
          setTo(due_at, dueAt),
          ...(outcome.kind === "again"
            ? []
            : [setTo(tries, BigInt(outcome.tries)), setTo(reason, outcome.reason)]),
          ...(outcome.kind === "failed" ? [setTo(state, "failed"), setTo(failed_at, now)] : []),
        ],
      }),
    );
  }
}
