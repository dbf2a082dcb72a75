/**
 * Tells statements that always fail (a trigger with a mistake, for example) from those that fail because tables have
 * just changed. The former go on failing although each look at the tables finds no change. One such look proves
 * nothing, because a column may disappear and return while the tables are looked at.
 */

/** A failure counts as lasting after this many looks without a change, if it occurred before each of them. */
const looksMin = 3;
/** Failures that are remembered. */
const failuresMax = 200;

/** Failures are identified by the database's message. */
export interface LastingFailures {
  failed(failure: string): void;
  /** The next result is about the failures until now. */
  beginLook(): void;
  /** The tables are those that the routes were compiled from. */
  sawSame(): void;
  sawChange(): void;
  isLasting(failure: string): boolean;
  /** Whether the last look was about failures that are not lasting. */
  leftOpen(): boolean;
}

export function createLastingFailures(): LastingFailures {
  const looks = new Map<string, number>();
  let since = new Set<string>();
  let before = since;

  const isLasting = (failure: string): boolean => (looks.get(failure) ?? 0) >= looksMin;

  return {
    failed(failure) {
      if (since.size < failuresMax) since.add(failure);
    },
    beginLook() {
      before = since;
      since = new Set();
    },
    sawSame() {
      for (const failure of before)
        if (looks.size < failuresMax || looks.has(failure))
          looks.set(failure, (looks.get(failure) ?? 0) + 1);
    },
    sawChange: () => looks.clear(),
    isLasting,
    leftOpen: () => [...before].some((failure) => !isLasting(failure)),
  };
}
