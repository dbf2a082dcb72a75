/** A part of a transaction that can be undone alone, by a savepoint, which all engines have in the same words. Called by `db.ts`. */
import type { DbTransaction } from "../../core/plans/ports.ts";

const name = "rowgate_part";

/** `say` runs a text in its turn among the transaction's statements. */
export function createPart(say: (text: string) => Promise<void>): DbTransaction["part"] {
  return async (work) => {
    await say(`savepoint ${name}`);
    try {
      return await work();
    } catch (error) {
      await say(`rollback to savepoint ${name}`);
      throw error;
    } finally {
      await say(`release savepoint ${name}`);
    }
  };
}
