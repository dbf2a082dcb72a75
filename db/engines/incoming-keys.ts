/** Foreign keys as the table sees them that they point at: one form for what each engine's catalog says. */
import type { IncomingKey } from "../../core/values/column.ts";
import type { RawRow } from "../statements/dialect.ts";

/**
 * One key for each `id`. The rows come in the order of the keys' columns: `id`, `table`, `column`, `referenced` (null = a
 * column of the primary key) and `rule`, the SQL words behind ON DELETE.
 */
export const incomingKeys = (rows: readonly RawRow[]): readonly IncomingKey[] =>
  [...Map.groupBy(rows, ({ id }) => String(id)).values()].map((parts) => ({
    table: String(parts[0]!["table"]),
    columns: parts.map(({ column }) => String(column)),
    referencedColumns: parts.flatMap(({ referenced }) =>
      referenced === null || referenced === undefined ? [] : [String(referenced)],
    ),
    onDelete: rules.get(String(parts[0]!["rule"]).toUpperCase()) ?? "refuse",
  }));

const rules: ReadonlyMap<string, IncomingKey["onDelete"]> = new Map([
  ["CASCADE", "cascade"],
  ["SET NULL", "clear"],
  ["SET DEFAULT", "clear"],
]);
