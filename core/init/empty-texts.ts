/**
 * Required columns of texts that are empty in some rows. Programs such as Django and WordPress store an empty text where
 * others store null: a rule that requires such a column would refuse the program's own records.
 */
import type { Table } from "../values/types/column.ts";
import type { LookAtRows } from "./label-column.ts";
import { isRequired } from "./rules.ts";

/** Names of columns. If the rows cannot be read, as if there were none. */
export async function emptyTexts(table: Table, look: LookAtRows): Promise<ReadonlySet<string>> {
  const columns = [...table.columns.values()].filter(
    (column) => column.type === "text" && isRequired(column),
  );
  if (columns.length === 0) return new Set();
  const rows = await look(table, columns, { isBrief: true }).catch(() => []);
  const isEmpty = (at: number): boolean => rows.some((row) => row[at] === "");
  return new Set(columns.filter((_, at) => isEmpty(at)).map(({ name }) => name));
}
