/**
 * The lines of a document that its caller may see, from rows that were not read within the caller's scope: rows of the
 * operator's own query, and rows of a stored answer.
 */
import type { DetailPlan } from "../plans/composite-plan.ts";
import type { Row } from "../values/row.ts";
import { equals, sourceOf, selectFrom } from "../query/statement.ts";
import type { Scalar } from "../values/scalar.ts";
import { past, scopeOfLines } from "./scoped-session.ts";
import type { ReadQueries } from "../query/session.ts";

/** A text that is equal for equal values of the line's key, as answers show them. */
export type LineName = string;

export const lineName = (row: Row, { lineKey }: DetailPlan): LineName =>
  JSON.stringify(lineKey.map(({ name }) => String(row[name])));

/**
 * Those of the rows that are lines of the header within the scope, in their order. Rows without their key cannot be
 * told apart, so if lines are hidden, none of them is shown.
 */
export async function seenLines(
  rows: readonly Row[],
  { detail, headerKey }: { detail: DetailPlan; headerKey: Scalar },
  queries: ReadQueries,
): Promise<readonly Row[]> {
  const { table, lineKey, foreignKey } = detail;
  const source = sourceOf(table);
  if (rows.length === 0 || scopeOfLines(queries, source, "read") === null) return rows;
  const seen = await past(queries, "readLines").all(
    selectFrom(source, { columns: lineKey, where: equals(foreignKey, headerKey) }),
  );
  const names = new Set(seen.map((row) => lineName(row, detail)));
  return rows.filter(
    (row) => lineKey.every(({ name }) => name in row) && names.has(lineName(row, detail)),
  );
}
