/**
 * A pool of connections: opened on demand, handed out first come first served, discarded when broken. The number of
 * waiting callers and their waiting time are limited.
 */
import type { ConnectionCounts, DbObserver } from "../../core/plans/observer.ts";
import { unavailable } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";
import { createDeadlines, type Deadlines } from "../../core/values/deadlines.ts";
import type { Connection } from "../engines/engine.ts";
import type { ReachLog } from "./reach-log.ts";

/** Unused connections are closed after this time. */
const idleMaxMs = 60_000;

/** `close()` waits this long for connections that are in use. */
const closeTimeoutMs = 2_000;

export interface PoolOptions {
  /** How long a caller waits for a connection; absent: `limits.acquireTimeoutMs`. */
  readonly acquireTimeoutMs?: number;
  /** The timer of the database; absent: a new one. */
  readonly deadlines?: Deadlines;
  /** Learns how long callers waited. */
  readonly observer?: DbObserver | undefined;
  /** Logs whether connections can be opened; absent: nobody does. */
  readonly reachLog?: ReachLog | undefined;
}

interface Waiter {
  /** Takes a connection that may carry others too. */
  readonly shares: boolean;
  readonly take: (connection: Connection) => void;
  readonly refuse: (error: Error) => void;
}

interface Idle {
  readonly connection: Connection;
  readonly sinceMs: number;
}

interface Busy {
  readonly connection: Connection;
  /** It carries quick statements alone, and others may join. */
  isShared: boolean;
  statements: number;
  /** When the last of them was sent while there was no other (clock of `performance.now()`). */
  sinceMs: number;
}

export class Pool {
  private readonly connect: () => Promise<Connection>;
  private readonly sizeMax: number;
  private readonly acquireTimeoutMs: number;
  private readonly deadlines: Deadlines;
  private readonly observer: DbObserver | undefined;
  private readonly reachLog: ReachLog | undefined;
  /** The most recently used connection is handed out first, so that the others become idle long enough to be closed. */
  private readonly idle: Idle[] = [];
  /** Not a set, and no bag: see `Bag`; these are few. */
  private readonly busy: Busy[] = [];
  /** Who has waited longest comes first. */
  private readonly waiters: Waiter[] = [];
  private opening = 0;
  private closed = false;
  private drained: (() => void) | undefined;
  private idleTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    connect: () => Promise<Connection>,
    sizeMax: number,
    {
      acquireTimeoutMs = limits.acquireTimeoutMs,
      deadlines = createDeadlines(),
      observer,
      reachLog,
    }: PoolOptions = {},
  ) {
    this.connect = connect;
    this.sizeMax = sizeMax;
    this.acquireTimeoutMs = acquireTimeoutMs;
    this.deadlines = deadlines;
    this.observer = observer;
    this.reachLog = reachLog;
  }

  /** Whether the log says itself that the database is away. */
  get isReported(): boolean {
    return this.reachLog !== undefined;
  }

  /** An idle connection, without waiting; null when there is none. */
  tryAcquire(): Connection | null {
    return this.takeIdle(false);
  }

  private takeIdle(shares: boolean): Connection | null {
    for (let entry = this.idle.pop(); entry !== undefined; entry = this.idle.pop()) {
      if (!entry.connection.alive) continue;
      this.use(entry.connection, shares);
      this.observer?.waited(0, true);
      return entry.connection;
    }
    return null;
  }

  /**
   * As `tryAcquire`, for a statement that changes nothing and is known to be quick. While all connections are busy, it joins one that
   * carries such statements alone, so that the server need not be waited for between two of them: one that has just begun, because what is
   * unexpectedly slow would hold up those behind it. Whoever waits for a connection of his own comes first.
   */
  tryShare(): Connection | null {
    const connection = this.takeIdle(true);
    if (connection !== null) return connection;
    return this.waitsAlone() ? null : this.join(performance.now() - limits.sharedWaitMs);
  }

  private use(connection: Connection, shares: boolean): Busy {
    const isShared = shares && connection.isShareable === true;
    const sinceMs = isShared ? performance.now() : 0;
    const busy: Busy = { connection, isShared, statements: 1, sinceMs };
    this.busy.push(busy);
    return busy;
  }

  private waitsAlone(): boolean {
    for (const { shares } of this.waiters) if (!shares) return true;
    return false;
  }

  /** `afterMs`: only connections whose statements began after that. */
  private join(afterMs: number): Connection | null {
    let least: Busy | null = null;
    let statements: number = limits.sharedStatementsMax;
    for (const busy of this.busy) {
      if (!busy.isShared || busy.statements >= statements) continue;
      if (busy.sinceMs < afterMs || !busy.connection.alive) continue;
      least = busy;
      statements = busy.statements;
    }
    if (least === null) return null;
    least.statements++;
    return least.connection;
  }

  /** `shares`: as `tryShare`. Rejects with `unavailable` at the deadline or after the acquire time-out, and with the driver's error when connecting failed. */
  acquire(deadlineAtMs: number, shares = false): Promise<Connection> {
    if (this.closed) return Promise.reject(unavailable("The database is closed"));
    const connection = this.waiters.length === 0 ? this.tryAcquire() : null;
    if (connection !== null) return Promise.resolve(connection);
    if (this.waiters.length >= limits.acquireQueueMax) {
      this.observer?.waited(0, false);
      return Promise.reject(unavailable("The database is busy; try again later"));
    }
    const waiting = this.wait(deadlineAtMs, shares);
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

  private wait(deadlineAtMs: number, shares: boolean): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const atMs = Math.min(deadlineAtMs, performance.now() + this.acquireTimeoutMs);
      const entry = this.deadlines.watch(atMs, () => {
        this.waiters.splice(this.waiters.indexOf(waiter), 1);
        reject(unavailable("No database connection became free in time; try again later"));
      });
      const waiter: Waiter = {
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
      this.openMore();
    });
  }

  /** Returns the connection to the pool, once for each time that it was handed out; a broken one is replaced when callers are waiting. */
  release(connection: Connection): void {
    const at = this.busy.findIndex((one) => one.connection === connection);
    const busy = this.busy[at];
    if (busy !== undefined && --busy.statements > 0) {
      busy.sinceMs = performance.now();
      if (connection.alive) this.fill(busy);
      return;
    }
    if (busy !== undefined) this.busy.splice(at, 1);
    if (!connection.alive) {
      connection.destroy();
      this.openMore();
    } else if (this.closed) {
      void connection.close();
    } else {
      this.hand(connection);
    }
    if (this.closed && this.busy.length === 0) this.drained?.();
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
      await this.deadlines.within(finished, atMs, () => {}, "").catch(() => {});
      for (const { connection } of this.busy) connection.destroy();
    }
    await Promise.all(closing);
  }

  /** Gives the connection to the caller that has waited longest, or keeps it idle. */
  private hand(connection: Connection): void {
    const waiter = this.waiters.shift();
    if (waiter !== undefined) {
      const busy = this.use(connection, waiter.shares);
      waiter.take(connection);
      if (busy.isShared) this.fill(busy);
      return;
    }
    this.idle.push({ connection, sinceMs: performance.now() });
    if (this.idleTimer === undefined) this.closeIdleLater(idleMaxMs);
  }

  /** Lets those who wait next join, as far as they share. */
  private fill(busy: Busy): void {
    while (this.waiters[0]?.shares && busy.statements < limits.sharedStatementsMax) {
      busy.statements++;
      this.waiters.shift()!.take(busy.connection);
    }
  }

  private openMore(): void {
    while (
      !this.closed &&
      this.opening < this.waiters.length &&
      this.busy.length + this.opening < this.sizeMax
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
    const atMs = performance.now() + limits.connectTimeoutMs;
    try {
      const connection = await this.deadlines.within(
        connecting,
        atMs,
        discard,
        "The database did not answer in time",
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

  /** Others are still in use, so the failed one may have exceeded the server's limit of connections. */
  private openLater(): void {
    setTimeout(() => this.openMore(), 100).unref?.();
  }

  private refuseAll(error: Error): void {
    for (const waiter of this.waiters.splice(0)) waiter.refuse(error);
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
