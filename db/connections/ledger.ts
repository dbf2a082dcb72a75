/**
 * The tables in which jobs leave their results and requests their answers: found, or made when first needed. Whoever may not create tables
 * can have them made by somebody else; `createLedger` of the engines says how they look.
 */
import type { Table } from "../../core/values/column.ts";
import { unavailable } from "../../core/values/errors.ts";

/**
 * Asks once, and again only after a failure. `make` runs `text`, the statement that creates the table. Rejects with `unavailable` when
 * the table is not there and cannot be made; the cause, for the log, says which statement somebody else has to run.
 */
export function createLedger({
  find,
  make,
  name,
  text,
}: {
  find(name: string): Promise<Table | null>;
  make(text: string): Promise<unknown>;
  name: string;
  text: string;
}): () => Promise<Table> {
  let known: Promise<Table> | null = null;

  async function look(): Promise<Table> {
    const found = await find(name);
    if (found) return found;
    // Two that make it at the same time may be in each other's way, and one of them succeeds.
    const failure: unknown = await make(text).then(
      () => undefined,
      (error: unknown) => error,
    );
    const made = await find(name);
    if (made) return made;
    const reason = `The table ${name} is not there and could not be made. Have it made with: ${text}`;
    throw unavailable(
      "The database has no table for the records of the service itself, and refuses to create it",
      new Error(reason, { cause: failure }),
    );
  }

  return () => {
    const asked = (known ??= look());
    asked.catch(() => {
      if (known === asked) known = null;
    });
    return asked;
  };
}
