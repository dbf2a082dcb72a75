/** Tells the operator of columns that are not read and written by their own type. */
import type { Columns } from "../values/column.ts";
import { groupReason } from "../values/type-groups.ts";
import type { Survey } from "./survey.ts";

/** One remark for all such columns of what the endpoint reads and writes. `table`: of its columns, those in `fieldName` count. */
export function noteTypes(
  survey: Survey,
  table: { readonly columns: Columns } | null,
  others: readonly ({ readonly columns: Columns } | null | undefined)[],
): void {
  const fields = survey.payload.fieldName;
  const own = [...(table?.columns.values() ?? [])].filter(
    ({ name }) => fields === undefined || fields.includes(name),
  );
  const read = others.flatMap((source) => [...(source?.columns.values() ?? [])]);
  const notes = new Map<string, string>();
  for (const column of [...own, ...read]) {
    const reason = groupReason(column);
    if (reason !== null && !notes.has(column.name)) notes.set(column.name, reason);
  }
  if (notes.size === 0) return;
  const list = [...notes].map(([name, reason]) => `${name} ${reason}`).join("; ");
  survey.remark(`columns with types of their own: ${list}`);
}
