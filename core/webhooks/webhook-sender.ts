/**
 * START HERE: sends what webhooks are to be told, from the table of deliveries. It looks when this process has written
 * and, once started, every second, because other processes write too and pauses between tries end.
 */
import type { ChangeTables } from "../plans/change-tables.ts";
import type { Db } from "../plans/db-port.ts";
import type { Log } from "../plans/log-port.ts";
import type { Outbound } from "../plans/outbound-port.ts";
import type { QueueCounts } from "../jobs/queue.ts";
import type { DbSession } from "../query/session.ts";
import { limits } from "../values/limits.ts";
import type { Table } from "../values/types/column.ts";
import { withTimeout } from "../values/with-timeout.ts";
import { briefReason, isGivenUp } from "../workflow/hook-queue.ts";
import {
  createDeliveryQueue,
  type Delivery,
  type TryOutcome,
  type Tried,
} from "./delivery-queue.ts";
import { deliverySummary, sendDelivery, type WebhookTarget } from "./send-delivery.ts";

/** Times of deliveries; only tests have others than those of `limits`. */
export interface DeliveryTimes {
  /** Between two tries; there is one try more. */
  readonly pauseSeconds: readonly number[];
  readonly lookMs: number;
  readonly leaseMs: number;
}

export const deliveryTimes: DeliveryTimes = {
  pauseSeconds: limits.deliveryPauseSeconds,
  lookMs: limits.deliveryLookMs,
  leaseMs: limits.deliveryLeaseMs,
};

export interface SenderOptions {
  readonly project: string;
  readonly webhooks: readonly (WebhookTarget & { readonly name: string })[];
  /** Of one try. */
  readonly timeoutMs: number;
  readonly db: Db;
  readonly outbound: Outbound;
  /** What is recorded; null: the database was not reached yet. */
  readonly changes: () => ChangeTables | null;
  readonly now: () => string;
  readonly newId: () => string;
  readonly log: Log;
  /** Absent: those of `limits`. */
  readonly times?: DeliveryTimes | undefined;
}

interface Pending extends Tried {
  /** With the next delivery of the lane. */
  resolve(next: Delivery | null): void;
}

export interface WebhookSender {
  /** These tables were written and committed: looks at once if webhooks may be told. Costs nothing without any. */
  wrote(tables: ReadonlySet<Table | "unknown">): void;
  /** Looks from now on, also when this process writes nothing. */
  start(): void;
  /** Null: the project has no webhooks. Rejects when the database is unreachable. */
  readonly counts: (() => Promise<QueueCounts>) | null;
  /**
   * Takes no more deliveries. Resolves when those under way are sent, or at this moment (of `performance.now()`), when
   * the others are left to the next process.
   */
  stop(untilMs: number): Promise<void>;
}

/** One piece, because its functions share what is being sent and what is known of the next look. */
export function createWebhookSender(options: SenderOptions): WebhookSender {
  const { project, webhooks, timeoutMs, db, outbound, now, newId, log } = options;
  const { pauseSeconds, lookMs, leaseMs } = options.times ?? deliveryTimes;
  if (webhooks.length === 0)
    return { wrote: () => {}, start: () => {}, counts: null, stop: async () => {} };

  const targets = new Map(webhooks.map((webhook) => [webhook.name, webhook]));
  const queue = createDeliveryQueue({ project, now, newId, leaseMs: timeoutMs + leaseMs });
  const abort = new AbortController();
  /** By webhook. */
  const running = new Map<string, Set<Promise<void>>>();
  /** Webhooks of which more may be due than can be sent now. */
  const full = new Set<string>();
  /** Ids of what is being sent, until its outcome is stored. */
  const busy = new Set<bigint>();
  const pending: Pending[] = [];
  let isSettling = false;
  let last: Promise<unknown> = Promise.resolve();
  let looking: Promise<void> | null = null;
  /** Something may have become due while a look was under way. */
  let isAgain = false;
  let isStarted = false;
  let isStopping = false;
  let isAway = false;
  let isSoon = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const session = (): DbSession => db.session(performance.now() + limits.requestDeadlineMs);

  const all = (): Promise<void>[] => [...running.values()].flatMap((some) => [...some]);

  /** One after the other, because the statements about deliveries would wait for each other's locks. */
  function serially<T>(work: () => Promise<T>): Promise<T> {
    const run = last.then(work);
    last = run.catch(() => undefined);
    return run;
  }

  /** Soon, because one look serves all writes until then. */
  function lookSoon(): void {
    if (!isStarted) return look();
    if (isStopping || isSoon) return;
    isSoon = true;
    clearTimeout(timer);
    timer = setTimeout(look, Math.min(soonMs, lookMs));
    timer.unref?.();
  }

  function look(): void {
    isSoon = false;
    isAgain = true;
    if (isStopping || looking !== null) return;
    clearTimeout(timer);
    looking = takeAll().finally(() => {
      looking = null;
      if (!isStarted || isStopping) return;
      timer = setTimeout(look, lookMs);
      timer.unref?.();
    });
  }

  async function takeAll(): Promise<void> {
    while (isAgain && !isStopping) {
      isAgain = false;
      try {
        for (const webhook of namesOf(options.changes())) await serially(() => takeSome(webhook));
        isAway = false;
      } catch (error) {
        if (!isAway) log.warn({ err: error }, "Deliveries could not be read; trying again");
        isAway = true;
      }
    }
  }

  /** Each webhook has its own room, so that one whose receiver is slow delays no other. */
  async function takeSome(webhook: string): Promise<void> {
    const limit = limits.deliveriesAtOnceMax - (running.get(webhook)?.size ?? 0);
    const taken =
      limit > 0 ? await queue.take(session(), { webhooks: [webhook], limit, busy }) : [];
    if (taken.length >= limit) full.add(webhook);
    for (const delivery of taken) begin(delivery);
  }

  function begin(delivery: Delivery): void {
    const { webhook } = delivery;
    const beside = running.get(webhook) ?? new Set();
    running.set(webhook, beside);
    const run = sendLane(delivery).finally(() => {
      beside.delete(run);
      // Several at once cost little more than one.
      if (beside.size <= limits.deliveriesAtOnceMax / 2 && full.delete(webhook)) look();
    });
    beside.add(run);
  }

  /** The delivery, and those of the same record after it. Never rejects. */
  async function sendLane(first: Delivery): Promise<void> {
    let next: Delivery | null = first;
    while (next !== null) {
      const delivery: Delivery = next;
      busy.add(delivery.id);
      const outcome = await send(delivery);
      const { promise, resolve } = Promise.withResolvers<Delivery | null>();
      pending.push({ delivery, outcome, resolve });
      void settleAll();
      next = await promise;
    }
  }

  /** Outcomes that come while others are stored are stored together. */
  async function settleAll(): Promise<void> {
    if (isSettling) return;
    isSettling = true;
    while (pending.length > 0) {
      const some = pending.splice(0);
      const takesNext = !isStopping;
      const settle = () => queue.settle(session(), some, { takesNext });
      const taken = await serially(settle).catch((error: unknown) => {
        const message = "The outcome of deliveries could not be stored; they are sent again";
        log.warn({ err: error, deliveries: some.length }, message);
        return [];
      });
      for (const { delivery } of some) busy.delete(delivery.id);
      const byLane = new Map(taken.map((delivery) => [delivery.lane, delivery]));
      for (const { delivery, resolve } of some) resolve(byLane.get(delivery.lane) ?? null);
    }
    isSettling = false;
  }

  async function send(delivery: Delivery): Promise<TryOutcome> {
    const { messageId, webhook } = delivery;
    const about = deliverySummary(delivery);
    const target = targets.get(webhook)!;
    const { signal } = abort;
    const sending = { outbound, target, timeoutMs, signal };
    const failure = await sendDelivery(delivery, about, sending);
    if (failure === null) return { kind: "sent" };
    if (signal.aborted) return { kind: "again" };
    const tries = delivery.tries + 1;
    const reason = briefReason(failure);
    const call = { id: messageId, requestId: about.requestId, label: `${webhook} ${about.type}` };
    const triesMax = pauseSeconds.length + 1;
    if (isGivenUp(log, call, { ...failure, tries, triesMax }))
      return { kind: "failed", tries, reason };
    // Partly random, so that deliveries which failed together are not repeated together.
    const pauseMs = pauseSeconds[tries - 1]! * 1_000 * (1 + Math.random() / 10);
    return { kind: "later", tries, reason, atMs: Date.parse(now()) + pauseMs };
  }

  return {
    wrote(tables) {
      const changes = options.changes();
      // A table with cascades changes others, of which webhooks may be told.
      const isTold = ({ identity }: Table): boolean =>
        changes?.cascades.has(identity) === true ||
        (changes?.recorded.get(identity)?.webhooks.length ?? 0) > 0;
      if ([...tables].some((table) => table !== "unknown" && isTold(table))) lookSoon();
    },
    start() {
      isStarted = true;
      look();
    },
    async counts() {
      const { waiting, ...counts } = await queue.counts(session());
      const active = all().length;
      return { ...counts, waiting: Math.max(0, waiting - active), active, completed: 0 };
    },
    async stop(untilMs) {
      isStopping = true;
      clearTimeout(timer);
      const done = async (): Promise<void> => {
        await looking;
        while (all().length > 0) await Promise.all(all());
      };
      const timeoutMs = Math.min(Math.max(untilMs - performance.now(), 0), longestMs);
      await withTimeout(done(), { timeoutMs, onTimeout: () => abort.abort() });
      await done();
    },
  };
}

/** From a write to the look for its deliveries. */
const soonMs = 20;

/** The longest time of a timer. */
const longestMs = 2 ** 31 - 1;

/** The webhooks of the project that are told of something; the others have a fault. */
const namesOf = (changes: ChangeTables | null): string[] => [
  ...new Set(
    [...(changes?.recorded.values() ?? [])].flatMap(({ webhooks }) =>
      webhooks.map(({ webhook }) => webhook),
    ),
  ),
];
