/** What the grid reads: `datatablesQuery`, else the table's own fields; never the view. Called by `compile.ts`. */
import type { Columns, Source, Table } from "../column.ts";
import type { GridPlan } from "../entity.ts";
import { sourceOf } from "../statement.ts";
import { forEverybody } from "./plans.ts";
import type { Survey } from "./survey.ts";

/** The grid's own query and all that it gives. */
export interface GridQuery {
  readonly source: Source;
  readonly columns: Columns;
}

/** Undefined without a datatablesQuery; null, and a fault, when the database refuses it. */
export async function gridQueryOf(survey: Survey): Promise<GridQuery | null | undefined> {
  const { datatablesQuery } = survey.payload;
  if (datatablesQuery === undefined) return undefined;
  const query = await survey.query(datatablesQuery, ["datatablesQuery"]);
  return query && { source: { kind: "query", text: query.text }, columns: query.columns };
}

/** Null where the endpoint has neither a query nor a table for the grid. `shown`: the table's columns that answers show. */
export function gridOf(
  survey: Survey,
  {
    query,
    table,
    ...own
  }: {
    query: GridQuery | null | undefined;
    table: Table | null;
    keyName: string | null;
    shown: Columns;
  },
): GridPlan | null {
  const { payload } = survey;
  const reading =
    query === undefined ? table && { source: sourceOf(table), columns: table.columns } : query;
  if (!reading) return null;
  const hidden = new Set(forEverybody(payload.hiddenFields));
  const columns = query
    ? new Map([...query.columns].filter(([name]) => !hidden.has(name)))
    : own.shown;
  if (columns.size === 0 && payload.action["datatables"] === true)
    survey.fault(["hiddenFields"], { expected: "at least one column that is left for the grid" });
  const wanted = payload.datatablesWhere && new Set(payload.datatablesWhere);
  return {
    source: reading.source,
    columns,
    searched: wanted ? new Map([...columns].filter(([name]) => wanted.has(name))) : columns,
    key: own.keyName === null ? null : (reading.columns.get(own.keyName) ?? null),
  };
}
