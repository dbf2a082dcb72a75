/**
 * Decides when a project is compiled again because its tables may have changed: soon after a statement failed as if they
 * had, but never twice within a short time. The pause grows as long as there is nothing but failures that last, so that a
 * statement that always fails (a trigger with a mistake, for example) costs little.
 */
import type { SchemaWatch } from "../../core/dispatch.ts";
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
  /** Compares the tables with those that the routes were compiled from, and compiles the project again. Never rejects. */
  lookAgain(): Promise<Sight>;
  /** Milliseconds of a clock that only goes forward. */
  readonly nowMs?: () => number;
}

export function createSchemaWatch({
  lookAgain,
  nowMs = () => performance.now(),
}: SchemaWatchOptions): SchemaWatch {
  const failures = createLastingFailures();
  let looking = false;
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
  }

  /** A failure that is new does not wait for a pause that has grown. */
  const mustWait = (failure: string | undefined): boolean => {
    const isNew = failure !== undefined && !failures.isLasting(failure);
    const waitMs = isNew
      ? Math.max(pauseMs.first, lookMs * pausePerLook.new)
      : Math.max(growingMs, lookMs * pausePerLook.other);
    return nowMs() - lastMs < waitMs;
  };

  return {
    doubt(failure) {
      if (failure !== undefined) failures.failed(failure);
      if (!looking && !mustWait(failure)) void look();
    },
    mayPass: (failure) => looking || !failures.isLasting(failure),
  };
}
