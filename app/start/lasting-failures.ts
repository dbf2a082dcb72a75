/**
 * Tells statements that always fail (a trigger with a mistake, for example) from those that fail because tables have just
 * changed: the former fail again and again, however often a look at the tables finds what was there before. One such look
 * proves nothing, because a column may go and come back while the tables are looked at.
 */

/** Looks that find nothing new, with the same failure before each of them and no change since, until it counts as lasting. */
const looksMin = 3;
/** Failures that are remembered. */
const failuresMax = 200;

/** Failures are known by what the database says of them. */
export interface LastingFailures {
  failed(failure: string): void;
  /** What failed until now, the next result is about. */
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
