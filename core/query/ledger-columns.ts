/** The columns of one of the service's own tables, by name. */
import type { Column, Table } from "../values/types/column.ts";

/** Throws an Error for a table that lacks one: it was made by somebody else. */
export function ledgerColumns<Name extends string>(
  ledger: Table,
  names: readonly Name[],
): Record<Name, Column> {
  const columns = names.map((name) => {
    const column = ledger.columns.get(name);
    if (!column) throw new Error(`The table ${ledger.name} has no column ${name}`);
    return [name, column] as const;
  });
  return Object.fromEntries(columns) as Record<Name, Column>;
}
