/**
 * The end of a turn of the event loop, when all that has arrived is read. What waits for it is done together: the system
 * wakes the other side once, and goes back to this process with more to read.
 */

export interface EndOfTurn {
  /** Then statements go to a database. */
  readonly statements: Promise<void>;
  /** Then answers go to clients, also those of statements that were answered at once. */
  readonly answers: Promise<void>;
}

let current: EndOfTurn | null = null;

/** That of the turn in which it is called. */
export function endOfTurn(): EndOfTurn {
  return (current ??= {
    statements: new Promise((resolve) => void setImmediate(resolve)),
    answers: new Promise((resolve) => {
      setImmediate(() => {
        current = null;
        resolve();
      });
    }),
  });
}
