/**
 * The service's own tables for results of jobs and answers of requests: looked up, or created on first use. If the
 * database user may not create tables, an administrator can create them; `createLedger` of the engines contains the
 * statements.
 */
import type { Table } from "../../core/values/column.ts";
import { unavailable } from "../../core/values/errors.ts";

/**
 * Looks the table up once, and again only after a failure. `make` runs `text`, the statement that creates the table.
 * Rejects with `unavailable` when the table does not exist and cannot be created; the cause, for the log, contains the
 * statement that an administrator has to run.
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

  async function findOrCreate(): Promise<Table> {
    const found = await find(name);
    if (found) return found;
    // When two processes create it at the same time, one of them may fail.
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
    const asked = (known ??= findOrCreate());
    asked.catch(() => {
      if (known === asked) known = null;
    });
    return asked;
  };
}
