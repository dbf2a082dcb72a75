/** A table that takes a while to export. Used by the tests that take workers, services and databases away meanwhile. */
import { createTables } from "../contract/tables.ts";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";

export const rows = 60_000;

/** A new SQLite database with a table `things` of that many rows. */
export async function openThings(): Promise<FreshDatabase> {
  const database = await freshDatabase("sqlite");
  const session = await openSession("sqlite", database.url);
  const columns = { id: "identity", word: "text(200)", qty: "integer" } as const;
  for (const text of createTables("sqlite", [{ name: "things", columns }])) await session.run(text);
  await session.run(
    `insert into things (word, qty)
     with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows}) select 'thing number ' || i, i from n`,
  );
  await session.close();
  return database;
}
