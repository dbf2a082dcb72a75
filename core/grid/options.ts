/**
 * The values that a field has, for the lists that the grid's extensions offer: at most `limits.gridOptionsMax`, in
 * order.
 */
import { isEmptyPath } from "../query/paths.ts";
import { resultOf } from "../query/aggregate-results.ts";
import type { Column, Source } from "../values/types/column.ts";
import type { GridPlan } from "../plans/grid-plan.ts";
import { limits } from "../values/limits.ts";
import { escapeHtml } from "../values/text.ts";
import type { ReadQueries } from "../query/session.ts";
import type { Json } from "../values/json.ts";
import type { Condition, Output } from "../query/statement.ts";

export interface Option {
  /** HTML: the extensions insert it into the page as it is. */
  readonly label: string;
  readonly value: string;
}

/** How many rows have each value, as its text. Missing values and empty texts are null. `where` null: all rows. */
export type CountValues = (
  column: Column,
  where: Condition | null,
) => Promise<ReadonlyMap<string | null, number>>;

/** For one request: the values of all rows are read once, even if several lists offer them. */
export function createCountValues(queries: ReadQueries, { source }: GridPlan): CountValues {
  const known = new Map<Column, ReturnType<CountValues>>();
  return (column, where) => {
    if (where !== null) return countValues(queries, { source, column, where });
    const counts = known.get(column) ?? countValues(queries, { source, column, where });
    known.set(column, counts);
    return counts;
  };
}

/** By field. `hasEmpty`: whether a field without a value is an option too, with empty texts. */
export async function optionsOf(
  columns: readonly Column[],
  { countValues: count, hasEmpty }: { countValues: CountValues; hasEmpty: boolean },
): Promise<Record<string, Option[]>> {
  const found = await Promise.all(
    columns.map(async (column): Promise<[string, Option[]]> => {
      const values = isEmptyPath(column) ? [] : [...(await count(column, null)).keys()];
      const offered = values.filter((value) => hasEmpty || value !== null);
      return [
        column.name,
        offered.map((value) => ({ label: htmlLabel(value), value: value ?? "" })),
      ];
    }),
  );
  return Object.fromEntries(found);
}

/** The value as HTML, so that a stored tag is shown as text; empty if there is no value. */
export const htmlLabel = (value: string | null): string => escapeHtml(value ?? "");

async function countValues(
  queries: ReadQueries,
  { source, column, where }: { source: Source; column: Column; where: Condition | null },
): Promise<ReadonlyMap<string | null, number>> {
  const value: Output = {
    alias: "value",
    function: null,
    column,
    result: resultOf(null, column, 0),
  };
  const rows: Output = {
    alias: "rows",
    function: "count",
    column: null,
    result: resultOf("count", null, 1),
  };
  const groups = await queries.aggregate({
    kind: "aggregate",
    source,
    rows: null,
    joins: [],
    outputs: [value, rows],
    where,
    having: null,
    sort: [{ column: value.result, direction: "asc" }],
    limit: limits.gridOptionsMax,
  });
  const counts = new Map<string | null, number>();
  for (const group of groups) {
    const text = shownText(group["value"] ?? null);
    counts.set(text, (counts.get(text) ?? 0) + Number(group["rows"]));
  }
  return counts;
}

const shownText = (value: Json): string | null =>
  value === null || value === "" ? null : String(value as string | number | boolean);
