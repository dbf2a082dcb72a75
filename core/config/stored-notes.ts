/** Tells the operator of columns whose values other programs store in forms of their own. */
import type { Columns } from "../values/column.ts";
import type { Survey } from "./survey.ts";

/**
 * One line for all such columns of what the endpoint reads and writes: a notice where a column has several forms, which makes it slow, else a
 * remark.
 */
export function noteStoredForms(
  survey: Survey,
  sources: readonly ({ readonly columns: Columns } | null | undefined)[],
): void {
  const columns = sources.flatMap((source) => [...(source?.columns.values() ?? [])]);
  const notes = new Set(
    columns.flatMap(({ name, stored }) => (stored?.note ? [`${name} holds ${stored.note}`] : [])),
  );
  if (notes.size === 0) return;
  const message = `values are stored in a special form: ${[...notes].join("; ")}`;
  if (columns.every(({ stored }) => stored?.isUniform !== false)) survey.remark(message);
  else survey.notice(message);
}
