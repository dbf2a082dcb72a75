/** A part of a transaction that can be rolled back alone, by a savepoint. */
import type { DbTransaction } from "../../core/plans/ports.ts";
import type { Savepoint } from "../engines/engine.ts";

/** `run` runs a text in order with the transaction's statements. */
export function createPart(
  { set, undo, release }: Savepoint,
  run: (text: string) => Promise<void>,
): DbTransaction["part"] {
  return async (work) => {
    await run(set);
    try {
      return await work();
    } catch (error) {
      await run(undo);
      throw error;
    } finally {
      await run(release);
    }
  };
}
