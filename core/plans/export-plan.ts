/** What an export writes, and how. */
import type { Column } from "../values/types/column.ts";
import { columnTypes } from "../values/types/column-types.ts";
import type { Json } from "../values/json.ts";
import type { ReadPlan } from "./read-plan.ts";

/** What export needs. `columns`: the own columns that a request may name. */
export interface ExportPlan extends Pick<
  ReadPlan,
  "source" | "columns" | "named" | "key" | "scope"
> {
  /** What the file holds unless a request selects columns, in order; at least one. */
  readonly exported: readonly ExportColumn[];
  /** How files show columns that a request selects, by name or path; the others have none of both. */
  readonly headings: ReadonlyMap<string, string>;
  readonly formats: ReadonlyMap<string, ConfiguredFormat>;
  /** Whether csv gets an apostrophe before texts that a spreadsheet would run as formulas. */
  readonly csvFormulas: "escape" | "keep";
}

export interface ExportColumn {
  readonly column: Column;
  readonly heading: string;
  /** Null: a value is written as what it is. */
  readonly format: ExportFormat | null;
}

/** What the configuration says of a column. */
export type ConfiguredFormat =
  | { readonly type: "boolean"; readonly trueLabel: string; readonly falseLabel: string }
  | { readonly type: "number" | "date"; readonly format: string };

/** One page of a list as csv, as exports write it. */
export interface AnsweredTable {
  readonly columns: readonly Pick<ExportColumn, "heading" | "format">[];
  readonly rows: readonly (readonly Json[])[];
  readonly csvFormulas: ExportPlan["csvFormulas"];
  /** Null: there is no next page, or pages are not read by cursor. */
  readonly nextCursor: string | null;
}

/** How the file of an export shows the values of a column; the writers of `jobs/workbook` know the patterns. */
export interface ExportFormat {
  readonly type: "text" | "number" | "boolean" | "date" | "datetime";
  readonly pattern?: string;
  readonly trueLabel?: string;
  readonly falseLabel?: string;
}

/** What tables for people have in a cell of the column. */
export const tableValue = ({ type }: Column, shown: Json): Json =>
  shown === null ? null : (columnTypes[type].inTables?.(shown) ?? shown);

/** How files show the column. */
export const exportColumn = (
  column: Column,
  { headings, formats }: Pick<ExportPlan, "headings" | "formats">,
): ExportColumn => ({
  column,
  heading: headings.get(column.name) ?? column.name,
  format: formatOf(formats.get(column.name), column),
});

function formatOf(given: ConfiguredFormat | undefined, { type }: Column): ExportFormat | null {
  const { exportedAs, isInstant } = columnTypes[type];
  if (!given) return exportedAs === null ? null : { type: exportedAs };
  if (given.type === "boolean") return given;
  return {
    type: given.type === "date" && isInstant ? "datetime" : given.type,
    pattern: given.format,
  };
}
