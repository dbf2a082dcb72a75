/**
 * Statements that SQLite refuses for every row of a table, because a foreign key refers to a table or column that is not
 * there. Programs that do not switch foreign keys on do not notice.
 */
import type { TableRefusal } from "../../../core/values/types/column.ts";

/** `explain`: prepares a statement and does not run it. `table`: quoted. `referenced`: tables that its keys name. */
export async function refusedByKeys(
  explain: (statement: string) => Promise<unknown>,
  { table, referenced }: { readonly table: string; readonly referenced: readonly string[] },
): Promise<TableRefusal[]> {
  const missing = referenced.map((name) => `no such table: main.${name}`);
  const statements = [
    ["insert", `insert into ${table} default values returning *`],
    ["delete", `delete from ${table} returning *`],
  ] as const;
  const refusals: TableRefusal[] = [];
  for (const [statement, text] of statements) {
    const message = await explain(text).then(
      () => "",
      (error: unknown) => (error as Error).message,
    );
    if (message.startsWith("foreign key mismatch - ") || missing.includes(message))
      refusals.push({
        statement,
        columns: null,
        reason: `where SQLite says: ${message}`,
        isBroken: true,
      });
  }
  return refusals;
}
