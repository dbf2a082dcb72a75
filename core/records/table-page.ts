/** A page of a list, or the results of aggregate, as one flat table: what clients get that ask for csv. */
import { versionName } from "../lists/shown-schema.ts";
import type { Entity } from "../plans/entity.ts";
import {
  type AnsweredTable,
  exportColumn,
  type ExportPlan,
  tableValue,
} from "../plans/export-plan.ts";
import type { Output, Select } from "../query/statement.ts";
import { answeredAs, type Column, derivedColumn } from "../values/types/column.ts";
import { invalidParameter } from "../values/errors.ts";
import { type Json, parseOwnJson } from "../values/json.ts";
import { asString, type WrittenJson } from "../values/ready-json.ts";
import type { Row } from "../values/row.ts";
import { etagOf } from "./etag.ts";
import type { Showing } from "./shown-records.ts";

type Looks = Pick<ExportPlan, "headings" | "formats" | "csvFormulas">;

const plain: Looks = { headings: new Map(), formats: new Map(), csvFormulas: "escape" };

/** As files of the export show columns. */
const looksOf = ({ export: exported }: Entity): Looks => exported ?? plain;

/** The table of a page of `list`. Rejects with Invalid parameter if it shows relations to many. */
export function tableOfPage(
  { list, showing }: { readonly list: Select; readonly showing: Showing | null },
  entity: Entity,
): Omit<AnsweredTable, "rows" | "nextCursor"> {
  const [many] = showing?.many ?? [];
  if (many)
    throw invalidParameter(`A csv answer has no place for the many records of ${many.path}`);
  const looks = looksOf(entity);
  const shown = [...(showing?.shown ?? list.columns), ...(showing?.versions ? [version] : [])];
  const columns = shown.map((column) => exportColumn(column, looks));
  return { columns, csvFormulas: looks.csvFormulas };
}

const version: Column = derivedColumn(versionName, "text", {});

/** The values of rows in the order of the columns of `tableOfPage`. */
export function tableRows(
  rows: readonly Readonly<Row>[],
  { list, showing }: { readonly list: Select; readonly showing: Showing | null },
): Json[][] {
  const columns = (showing?.shown ?? list.columns).map(
    (column) => [column, answeredAs(column)] as const,
  );
  const plan = showing?.versions ?? null;
  return rows.map((row) => [
    ...columns.map(([column, name]) => tableValue(column, row[name] ?? null)),
    ...(plan === null ? [] : [etagOf(row, plan)]),
  ]);
}

/** What `tableRows` gave, kept as JSON with the cursor of the next page. */
export const readKept = (kept: WrittenJson): Pick<AnsweredTable, "rows" | "nextCursor"> =>
  parseOwnJson(asString(kept)) as unknown as Pick<AnsweredTable, "rows" | "nextCursor">;

/** The results of aggregate; a grouped column looks as in an export if it keeps its name. */
export function tableOfResults(
  outputs: readonly Output[],
  rows: readonly Readonly<Row>[],
  entity: Entity,
): AnsweredTable {
  const looks = looksOf(entity);
  const columns = outputs.map(({ alias, function: name, result }) =>
    exportColumn({ ...result, name: alias }, name === null ? looks : plain),
  );
  const values = rows.map((row) => outputs.map(({ alias }) => row[alias] ?? null));
  return { columns, rows: values, csvFormulas: looks.csvFormulas, nextCursor: null };
}
