/**
 * A pool of connections: opened on demand, handed out first come, first served, discarded when broken. One caller gets
 * at most half of them; its further statements wait, and other callers pass them. The number of waiting statements and
 * their waiting time are limited.
 */
import type { ConnectionCounts, DbObserver } from "../../core/plans/observer.ts";
import { unavailable } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";
import { createDeadlines, type Deadlines, tooLate } from "../../core/values/deadlines.ts";
import type { Connection, Quick } from "../engines/engine.ts";
import { type CallerPart, CallerParts } from "./pool-parts.ts";
import type { ReachLog } from "./reach-log.ts";

/** Unused connections are closed after this time. */
const idleMaxMs = 60_000;

/** `close()` waits this long for connections that are in use. */
const closeTimeoutMs = 500;

export interface PoolOptions {
  /** How long a caller waits for a connection; absent: `limits.acquireTimeoutMs`. */
  readonly acquireTimeoutMs?: number;
  /** How long opening a connection takes at most; absent: `limits.connectTimeoutMs`. */
  readonly connectTimeoutMs?: number;
  /** All connections are for one caller, which can use all of them. */
  readonly isForOneCaller?: boolean | undefined;
  /** The timer of the database; absent: a new one. */
  readonly deadlines?: Deadlines;
  /** Learns how long callers waited. */
  readonly observer?: DbObserver | undefined;
  /** Logs whether connections can be opened, if there is one. */
  readonly reachLog?: ReachLog | undefined;
}

/** Which caller takes a connection, and how. */
export interface Taking {
  /** The caller, by `shareOf`, against whose share it counts; null: the service itself, which has no limit. */
  readonly caller?: string | null;
  /** Quick statements with which it can share the connection; null or absent: it needs one for itself. */
  readonly shares?: Sharing;
}

/** Reads share only with reads, because a read can be ended at any time, and its connection with it. */
export type Sharing = Quick | null;

interface Asker {
  readonly part: CallerPart;
  readonly shares: Sharing;
}

interface Waiter extends Asker {
  readonly take: (connection: Connection) => void;
  readonly refuse: (error: Error) => void;
}

interface Idle {
  readonly connection: Connection;
  readonly sinceMs: number;
}

interface Busy {
  readonly connection: Connection;
  /** It carries only quick statements of this kind, and others can join; null: a single one, or a transaction. */
  readonly shares: Sharing;
  /** How many it may carry. */
  readonly most: number;
  /** Callers of its statements, in the order of their arrival. The first one holds the connection. */
  readonly parts: CallerPart[];
  /** When the last of them was sent while there was no other (clock of `performance.now()`). */
  sinceMs: number;
}

export class Pool {
  private readonly connect: () => Promise<Connection>;
  private readonly sizeMax: number;
  private readonly acquireTimeoutMs: number;
  private readonly connectTimeoutMs: number;
  private readonly deadlines: Deadlines;
  private readonly observer: DbObserver | undefined;
  private readonly reachLog: ReachLog | undefined;
  /** The most recently used connection is handed out first, so that the others become idle long enough to be closed. */
  private readonly idle: Idle[] = [];
  /** An array, neither a set nor a `Bag`, as it stays short. */
  private readonly busy: Busy[] = [];
  /** Longest wait first. While connections are idle, every waiter has reached its caller's maximum. */
  private readonly waiters: Waiter[] = [];
  private readonly parts: CallerParts;
  private opening = 0;
  private closed = false;
  private drained: (() => void) | undefined;
  private idleTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    connect: () => Promise<Connection>,
    sizeMax: number,
    {
      acquireTimeoutMs = limits.acquireTimeoutMs,
      connectTimeoutMs = limits.connectTimeoutMs,
      isForOneCaller = false,
      deadlines = createDeadlines(),
      observer,
      reachLog,
    }: PoolOptions = {},
  ) {
    this.connect = connect;
    this.sizeMax = sizeMax;
    this.parts = new CallerParts(isForOneCaller ? sizeMax : Math.max(1, Math.floor(sizeMax / 2)));
    this.acquireTimeoutMs = acquireTimeoutMs;
    this.connectTimeoutMs = connectTimeoutMs;
    this.deadlines = deadlines;
    this.observer = observer;
    this.reachLog = reachLog;
  }

  /** Whether the pool itself logs that the database is unreachable. */
  get isReported(): boolean {
    return this.reachLog !== undefined;
  }

  /**
   * A connection, without waiting; null when there is none or the caller has reached its maximum. A statement that
   * shares joins those of its kind if no connection is idle, which saves a round trip between two of them. The first of
   * these must have begun recently: an unexpectedly slow statement would delay those behind it. Waiters that cannot
   * join go first. Joining does not count against the caller's maximum.
   */
  tryAcquire({ caller = null, shares = null }: Taking = {}): Connection | null {
    const part = this.parts.of(caller);
    const connection = this.takeIdle(part, shares);
    if (connection !== null || shares === null || this.waitsForAnother(shares)) return connection;
    return this.join({ part, shares }, performance.now() - limits.sharedWaitMs);
  }

  private takeIdle(part: CallerPart, shares: Sharing): Connection | null {
    if (!this.parts.hasRoom(part)) return null;
    for (let entry = this.idle.pop(); entry !== undefined; entry = this.idle.pop()) {
      if (!entry.connection.alive) continue;
      this.use(entry.connection, { part, shares });
      this.observer?.waited(0, true);
      return entry.connection;
    }
    this.parts.forget(part);
    return null;
  }

  private use(connection: Connection, { part, shares }: Asker): Busy {
    const most = (shares !== null && connection.carries?.[shares]) || 1;
    const sharing = most === 1 ? null : shares;
    const busy = { connection, shares: sharing, most, parts: [part], sinceMs: performance.now() };
    part.held++;
    part.statements++;
    this.busy.push(busy);
    return busy;
  }

  private waitsForAnother(mine: Sharing): boolean {
    return this.waiters.some(({ shares, part }) => shares !== mine && this.parts.hasRoom(part));
  }

  /** `afterMs`: only connections whose statements began after that. */
  private join({ part, shares }: Asker, afterMs: number): Connection | null {
    let least: Busy | null = null;
    let statements = Infinity;
    for (const busy of this.busy) {
      const most = Math.min(statements, busy.most);
      if (busy.shares !== shares || busy.parts.length >= most) continue;
      if (busy.sinceMs < afterMs || !busy.connection.alive) continue;
      least = busy;
      statements = busy.parts.length;
    }
    if (least === null) return null;
    least.parts.push(part);
    part.statements++;
    return least.connection;
  }

  /** Rejects with `unavailable` at the deadline or after the acquire time-out, or with the driver's error. */
  acquire(
    deadlineAtMs: number,
    { caller = null, shares = null }: Taking = {},
  ): Promise<Connection> {
    if (this.closed) return Promise.reject(unavailable("The database is closed"));
    const part = this.parts.of(caller);
    const connection = this.takeIdle(part, shares);
    if (connection !== null) return Promise.resolve(connection);
    const isFull = caller !== null && part.waiting >= limits.acquireQueueMax / 2;
    if (isFull || this.waiters.length >= limits.acquireQueueMax) {
      this.observer?.waited(0, false);
      return Promise.reject(unavailable("The database is busy; try again later"));
    }
    const waiting = this.wait(deadlineAtMs, { part, shares });
    return this.observer ? this.observed(waiting, this.observer) : waiting;
  }

  private observed(waiting: Promise<Connection>, observer: DbObserver): Promise<Connection> {
    const startedMs = performance.now();
    waiting.then(
      () => observer.waited(performance.now() - startedMs, true),
      () => observer.waited(performance.now() - startedMs, false),
    );
    return waiting;
  }

  private wait(deadlineAtMs: number, { part, shares }: Asker): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const atMs = Math.min(deadlineAtMs, performance.now() + this.acquireTimeoutMs);
      const entry = this.deadlines.watch(atMs, () => {
        this.leaveQueue(this.waiters.indexOf(waiter));
        this.parts.forget(part);
        reject(unavailable("No database connection became free in time; try again later"));
      });
      const waiter: Waiter = {
        part,
        shares,
        take: (taken) => {
          this.deadlines.unwatch(entry);
          resolve(taken);
        },
        refuse: (error) => {
          this.deadlines.unwatch(entry);
          reject(error);
        },
      };
      this.waiters.push(waiter);
      part.waiting++;
      this.openMore();
    });
  }

  private leaveQueue(at: number): Waiter {
    const [waiter] = this.waiters.splice(at, 1);
    waiter!.part.waiting--;
    return waiter!;
  }

  /**
   * Returns the connection to the pool, once per time it was handed out, with the same caller. A broken one is
   * replaced when statements are waiting.
   */
  release(connection: Connection, caller: string | null = null): void {
    const at = this.busy.findIndex((one) => one.connection === connection);
    const busy = this.busy[at];
    if (busy !== undefined && !this.isLeft(busy, caller)) {
      busy.sinceMs = performance.now();
      if (connection.alive) this.fill(busy);
    } else {
      if (busy !== undefined) this.busy.splice(at, 1);
      if (!connection.alive) connection.destroy();
      else if (this.closed) void connection.close();
      else this.hand(connection);
    }
    // The caller is below its maximum again.
    this.handIdle();
    this.openMore();
    if (this.closed && this.busy.length === 0) this.drained?.();
  }

  /** Removes one of the caller's statements from the connection. Returns whether it was the last one. */
  private isLeft({ parts }: Busy, caller: string | null): boolean {
    const at = Math.max(
      0,
      parts.findIndex((part) => part.caller === caller),
    );
    const [part] = parts.splice(at, 1);
    part!.statements--;
    if (at === 0) {
      part!.held--;
      if (parts[0] !== undefined) parts[0].held++;
    }
    this.parts.forget(part!);
    return parts.length === 0;
  }

  counts(): ConnectionCounts {
    const { busy, idle, opening, waiters } = this;
    return { busy: busy.length, idle: idle.length, opening, waiting: waiters.length };
  }

  /** Rejects waiting callers, lets running statements finish for a moment, then closes everything. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.idleTimer);
    this.refuseAll(unavailable("The database is closed"));
    const closing = this.idle.splice(0).map(({ connection }) => connection.close());
    if (this.busy.length > 0) {
      const finished = new Promise<void>((resolve) => (this.drained = resolve));
      const atMs = performance.now() + closeTimeoutMs;
      await this.deadlines.within(finished, atMs, () => undefined);
      for (const { connection } of this.busy) connection.destroy();
    }
    await Promise.all(closing);
  }

  /** Hands the connection to the longest waiting caller below its maximum, or keeps it idle. */
  private hand(connection: Connection): void {
    if (this.give(connection)) return;
    this.idle.push({ connection, sinceMs: performance.now() });
    if (this.idleTimer === undefined) this.closeIdleLater(idleMaxMs);
  }

  /** False: no caller below its maximum is waiting. */
  private give(connection: Connection): boolean {
    const at = this.waiters.findIndex(({ part }) => this.parts.hasRoom(part));
    if (at < 0) return false;
    const waiter = this.leaveQueue(at);
    const busy = this.use(connection, waiter);
    waiter.take(connection);
    if (busy.shares !== null) this.fill(busy);
    return true;
  }

  private handIdle(): void {
    while (this.waiters.length > 0 && this.idle.length > 0) {
      const { connection } = this.idle.at(-1)!;
      if (connection.alive && !this.give(connection)) return;
      this.idle.pop();
    }
  }

  /** Lets the next waiters join, up to the first that cannot. */
  private fill(busy: Busy): void {
    while (busy.parts.length < busy.most) {
      const at = this.waiters.findIndex(
        ({ shares, part }) => shares === busy.shares || this.parts.hasRoom(part),
      );
      if (this.waiters[at]?.shares !== busy.shares) return;
      const { part, take } = this.leaveQueue(at);
      busy.parts.push(part);
      part.statements++;
      take(busy.connection);
    }
  }

  private openMore(): void {
    while (
      !this.closed &&
      this.busy.length + this.idle.length + this.opening < this.sizeMax &&
      this.opening < this.parts.wanted()
    ) {
      this.opening++;
      void this.open();
    }
  }

  private async open(): Promise<void> {
    const connecting = this.connect();
    // A connection that opens after the attempt was abandoned must be closed.
    const discard = (): void =>
      void connecting.then(
        (late) => late.destroy(),
        () => {},
      );
    const atMs = performance.now() + this.connectTimeoutMs;
    try {
      const connection = await this.deadlines.within(
        connecting,
        atMs,
        tooLate("The database did not answer in time", discard),
      );
      this.opening--;
      this.reachLog?.opened();
      if (this.closed) void connection.close();
      else this.hand(connection);
    } catch (error) {
      this.opening--;
      // All waiting callers would get the same error, so they get it now instead of at their deadline.
      if (this.busy.length > 0) return this.openLater();
      this.reachLog?.failed(error);
      this.refuseAll(error as Error);
    }
  }

  /** Others are still in use, so the failed one can have exceeded the server's limit of connections. */
  private openLater(): void {
    setTimeout(() => this.openMore(), 100).unref?.();
  }

  private refuseAll(error: Error): void {
    while (this.waiters.length > 0) {
      const { part, refuse } = this.leaveQueue(this.waiters.length - 1);
      this.parts.forget(part);
      refuse(error);
    }
  }

  private closeIdleLater(delayMs: number): void {
    this.idleTimer = setTimeout(() => {
      this.idleTimer = undefined;
      const oldestMs = performance.now() - idleMaxMs;
      while (this.idle.length > 0 && this.idle[0]!.sinceMs <= oldestMs)
        void this.idle.shift()!.connection.close();
      if (this.idle.length > 0) this.closeIdleLater(this.idle[0]!.sinceMs - oldestMs);
    }, delayMs);
    this.idleTimer.unref?.();
  }
}
