/**
 * The table in which jobs leave their results, `rowgate_jobs`: found, or made when it is first needed. Whoever may not create tables can
 * have it made by somebody else; `createLedger` of the engines says how it looks. Called by `db.ts`.
 */
import type { Table } from "../core/column.ts";

const ledgerName = "rowgate_jobs";

/** Asks once, and again only after a failure. `make` runs the statement that creates it. */
export function createLedger({
  find,
  make,
}: {
  find(name: string): Promise<Table | null>;
  make(): Promise<unknown>;
}): () => Promise<Table> {
  let known: Promise<Table> | null = null;

  async function look(): Promise<Table> {
    const found = await find(ledgerName);
    if (found) return found;
    // Two that make it at the same time may be in each other's way, and one of them succeeds.
    const failure: unknown = await make().then(
      () => undefined,
      (error: unknown) => error,
    );
    const made = await find(ledgerName);
    if (made) return made;
    throw new Error(`The table ${ledgerName} cannot be made`, { cause: failure });
  }

  return () => {
    const asked = (known ??= look());
    asked.catch(() => {
      if (known === asked) known = null;
    });
    return asked;
  };
}
