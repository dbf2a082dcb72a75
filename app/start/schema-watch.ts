/**
 * Decides when a project is compiled again because its tables may have changed: soon after a statement failed as if they
 * had, but never twice within a short time. The pause grows as long as that finds nothing new, so that a statement that
 * always fails (a trigger with a mistake, for example) costs little.
 */
import type { SchemaWatch } from "../../core/dispatch.ts";

/** Pause between two looks at the tables: the shortest, and the longest after doubling. */
const pauseMs = { first: 1_000, longest: 8_000 };
/** The pause is at least this many times as long as the look before it took, so that large projects do not load their database. */
const pausePerLook = 10;

/** The result of a look at the tables. */
export type Sight = "changed" | "same" | "unreachable";

export interface SchemaWatchOptions {
  /** Compares the tables with those that the routes were compiled from, and compiles the project again. Never rejects. */
  lookAgain(): Promise<Sight>;
  /** Milliseconds of a clock that only goes forward. */
  readonly nowMs?: () => number;
}

/** A watch that has looked a moment ago, when the project was compiled. */
export function createSchemaWatch({
  lookAgain,
  nowMs = () => performance.now(),
}: SchemaWatchOptions): SchemaWatch {
  let looking = false;
  let lastMs = -Infinity;
  let growingMs = pauseMs.first;
  let waitMs = 0;
  let last: Sight = "changed";

  async function look(): Promise<void> {
    looking = true;
    const startedMs = nowMs();
    last = await lookAgain();
    lastMs = nowMs();
    growingMs = last === "same" ? Math.min(growingMs * 2, pauseMs.longest) : pauseMs.first;
    waitMs = Math.max(growingMs, (lastMs - startedMs) * pausePerLook);
    looking = false;
  }

  const isRecent = (): boolean => nowMs() - lastMs < waitMs;

  return {
    doubt() {
      if (!looking && !isRecent()) void look();
    },
    isUnsettled: () => looking || (isRecent() && last !== "same"),
  };
}
