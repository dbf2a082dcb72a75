/**
 * Tells listeners of one process what was committed, in the order of all writes. One read of the log serves all
 * listeners, however many there are. It looks when this process has written, when another instance says so, and every
 * second, because other processes write too and what they say can be lost.
 */
import type { Db } from "../plans/db-port.ts";
import type { Log } from "../plans/log-port.ts";
import type { Nudge } from "../plans/nudge.ts";
import type { OpenStreams } from "../plans/open-streams.ts";
import { limits } from "../values/limits.ts";
import {
  type ChangeOrder,
  changesAfter,
  orderWrites,
  type PlacedChange,
  type Reached,
} from "./change-order.ts";

export interface Listener {
  /** Where it begins; moves on with what it has been told. */
  reached: Reached;
  /** In order. `isEnd`: they end with a whole write, and nothing more is known. */
  hear(changes: readonly PlacedChange[], isEnd: boolean): void;
  /** There is nothing more: the configuration was replaced, or the process stops. */
  end(): void;
}

export interface Feed {
  /** This process has committed changes. Reads nothing without listeners. */
  wrote(): void;
  /** Numbers all committed writes; rejects as sessions do. */
  order(deadlineAtMs: number): Promise<ChangeOrder>;
  /** Returns a function that ends listening. Ends soon by itself once the feed is closed. */
  listen(listener: Listener): () => void;
  readonly listeners: number;
  /** The streams of the project. */
  readonly streams: OpenStreams;
  /** Ends all listening, so that clients go on elsewhere. */
  close(): void;
}

export interface FeedOptions {
  readonly db: Db;
  /** Null: other instances are seen only by the look each second. */
  readonly nudge: Nudge | null;
  readonly streams: OpenStreams;
  readonly newId: () => string;
  readonly log: Log;
}

/** One piece, because its functions share the listeners and what is known of the next look. */
export function createFeed({ db, newId, log, nudge, streams }: FeedOptions): Feed {
  const listeners = new Set<Listener>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Set while there are listeners. */
  let stopHearing: (() => void) | undefined;
  let isLooking = false;
  /** Something was committed while a look was under way. */
  let isAgain = false;
  let isClosed = false;

  const order = (deadlineAtMs: number): Promise<ChangeOrder> =>
    orderWrites({ db, newId, deadlineAtMs });

  function schedule(delayMs: number): void {
    clearTimeout(timer);
    if (listeners.size === 0) return;
    timer = setTimeout(() => void look(), delayMs);
    timer.unref?.();
  }

  function remove(listener: Listener): void {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    stopHearing?.();
    stopHearing = undefined;
  }

  async function look(): Promise<void> {
    if (isLooking) {
      isAgain = true;
      return;
    }
    isLooking = true;
    isAgain = false;
    try {
      const deadlineAtMs = performance.now() + limits.requestDeadlineMs;
      const { last } = await order(deadlineAtMs);
      while (await tellNext(last, deadlineAtMs));
    } catch (error) {
      // The listeners go on where they are, with the next look.
      log.warn({ err: error }, "Changes could not be read; trying again");
    } finally {
      isLooking = false;
      schedule(isAgain ? 0 : limits.feedPauseMs);
    }
  }

  /** Reads on for the listener that is furthest behind, and tells all that are at the same place. */
  async function tellNext(last: number, deadlineAtMs: number): Promise<boolean> {
    const behind = [...listeners].filter(
      ({ reached }) => reached.place < last || !isAtEnd(reached),
    );
    const [first] = behind.toSorted((one, other) => one.reached.place - other.reached.place);
    if (first === undefined) return false;
    const { place, id } = first.reached;
    const together = behind.filter(({ reached }) => reached.place === place && reached.id === id);
    const rows = await changesAfter(db.session(deadlineAtMs), first.reached, limits.inValuesMax);
    const isEnd = rows.length < limits.inValuesMax;
    const at = rows.at(-1);
    const reached = isEnd
      ? { place: Math.max(last, at?.place ?? 0, place), id: endOfWrite }
      : { place: at!.place, id: at!.id };
    for (const listener of together) {
      if (!listeners.has(listener)) continue;
      listener.reached = reached;
      listener.hear(rows, isEnd);
    }
    return true;
  }

  return {
    wrote() {
      nudge?.tell();
      if (listeners.size > 0) void look();
    },
    order,
    listen(listener) {
      if (isClosed) {
        queueMicrotask(() => listener.end());
        return () => undefined;
      }
      listeners.add(listener);
      stopHearing ??= nudge?.listen(() => void look());
      void look();
      return () => remove(listener);
    },
    streams,
    get listeners() {
      return listeners.size;
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
      for (const listener of listeners) {
        listener.end();
        remove(listener);
      }
    },
  };
}

/** Beyond the id of every change. */
export const endOfWrite = "9223372036854775807";

const isAtEnd = ({ id }: Reached): boolean => id === endOfWrite;
