/**
 * Decides when to compile a project again because its tables may have changed: soon after a statement fails in a way
 * that suggests it, but never twice within a short time. After a failure during the pause, the tables are looked at
 * when the pause is over. The pause grows while all failures are lasting ones, so that a statement that always fails (a
 * trigger with a mistake, for example) costs little.
 */
import type { SchemaWatch } from "../../../core/plans/db-port.ts";
import { createLastingFailures } from "./lasting-failures.ts";

/** Pause between two looks at the tables: the shortest, and the longest after doubling. */
const pauseMs = { first: 1_000, longest: 8_000 };
/**
 * The pause is at least this many times as long as the look before it took, so that large projects do not load their
 * database. For a failure that is new there are only a few looks.
 */
const pausePerLook = { new: 3, other: 10 };

/** The result of a look at the tables. */
export type Sight = "changed" | "same" | "unreachable";

export interface SchemaWatchOptions {
  /** Compares the tables with those of the routes, and compiles the project again if they differ. Never rejects. */
  lookAgain(): Promise<Sight>;
  /** Resolves after the time, or at once when the project is closed. */
  pause(ms: number): Promise<void>;
  /** Milliseconds of a clock that only goes forward. */
  readonly nowMs?: () => number;
}

export function createSchemaWatch({
  lookAgain,
  pause,
  nowMs = () => performance.now(),
}: SchemaWatchOptions): SchemaWatch {
  const failures = createLastingFailures();
  let looking = false;
  let waiting = false;
  /** A failure during a look at the tables, which may have been too early to see its cause. */
  let meanwhile: { readonly failure: string | undefined } | null = null;
  let lastMs = -Infinity;
  let growingMs = pauseMs.first;
  let lookMs = 0;

  async function look(): Promise<void> {
    looking = true;
    failures.beginLook();
    const startedMs = nowMs();
    const sight = await lookAgain();
    lastMs = nowMs();
    if (sight === "changed") failures.sawChange();
    if (sight === "same") failures.sawSame();
    const isIdle = sight === "same" && !failures.leftOpen();
    growingMs = isIdle ? Math.min(growingMs * 2, pauseMs.longest) : pauseMs.first;
    lookMs = lastMs - startedMs;
    looking = false;
    const missed = meanwhile;
    meanwhile = null;
    if (missed !== null) lookSoon(missed.failure);
  }

  /** What is left of the pause. A new failure does not wait for a pause that has grown. */
  const restMs = (failure: string | undefined): number => {
    const isNew = failure !== undefined && !failures.isLasting(failure);
    const waitMs = isNew
      ? Math.max(pauseMs.first, lookMs * pausePerLook.new)
      : Math.max(growingMs, lookMs * pausePerLook.other);
    return waitMs - (nowMs() - lastMs);
  };

  /** No failure is ignored during the pause: it may be the only statement that shows the change. */
  async function lookLater(ms: number): Promise<void> {
    if (waiting) return;
    waiting = true;
    await pause(ms);
    waiting = false;
    if (!looking) void look();
  }

  function lookSoon(failure: string | undefined): void {
    const ms = restMs(failure);
    if (ms > 0) void lookLater(ms);
    else void look();
  }

  return {
    doubt(failure) {
      if (failure !== undefined) failures.failed(failure);
      if (looking) meanwhile = { failure };
      else lookSoon(failure);
    },
    mayPass: (failure) => looking || !failures.isLasting(failure),
  };
}
