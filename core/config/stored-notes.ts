/** Tells the operator of columns whose values other programs store in forms of their own. */
import type { Columns } from "../values/column.ts";
import type { Survey } from "./survey.ts";

/** One notice for all such columns of what the endpoint reads and writes. */
export function noteStoredForms(
  survey: Survey,
  sources: readonly ({ readonly columns: Columns } | null | undefined)[],
): void {
  const notes = new Set(
    sources.flatMap((source) =>
      [...(source?.columns.values() ?? [])].flatMap(({ name, stored }) =>
        stored?.note ? [`${name} holds ${stored.note}`] : [],
      ),
    ),
  );
  if (notes.size > 0)
    survey.notice(`values are stored in a special form: ${[...notes].join("; ")}`);
}
