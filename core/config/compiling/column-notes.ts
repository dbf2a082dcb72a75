/**
 * Informs the operator of columns that other programs fill in special forms, and of columns that are not read and
 * written by their own type.
 */
import type { Column, Columns } from "../../values/types/column.ts";
import { groupReason } from "../../values/types/type-groups.ts";
import type { Survey } from "./survey.ts";

/** Columns of a table, a view or a query, if the endpoint has one. */
type Sourced = { readonly columns: Columns } | null | undefined;

const columnsOf = (sources: readonly Sourced[]): Column[] =>
  sources.flatMap((source) => [...(source?.columns.values() ?? [])]);

/**
 * One line for all columns with special forms that the endpoint reads and writes. A notice if a column mixes several
 * forms, which is slow; otherwise a remark.
 */
export function noteStoredForms(survey: Survey, sources: readonly Sourced[]): void {
  const columns = columnsOf(sources);
  const notes = new Set(
    columns.flatMap(({ name, stored }) => (stored?.note ? [`${name} holds ${stored.note}`] : [])),
  );
  if (notes.size === 0) return;
  const message = `values are stored in a special form: ${[...notes].join("; ")}`;
  if (columns.every(({ stored }) => stored?.isUniform !== false)) survey.remark(message);
  else survey.notice(message);
}

/** One remark for all such columns that the endpoint reads and writes; of `table`, only those in `fieldName`. */
export function noteTypes(survey: Survey, table: Sourced, others: readonly Sourced[]): void {
  const fields = survey.payload.fieldName;
  const own = columnsOf([table]).filter(
    ({ name }) => fields === undefined || fields.includes(name),
  );
  const notes = new Map<string, string>();
  for (const column of [...own, ...columnsOf(others)]) {
    const reason = groupReason(column);
    if (reason !== null && !notes.has(column.name)) notes.set(column.name, reason);
  }
  if (notes.size === 0) return;
  const list = [...notes].map(([name, reason]) => `${name} ${reason}`).join("; ");
  survey.remark(`columns with types of their own: ${list}`);
}
