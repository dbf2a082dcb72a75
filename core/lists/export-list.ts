/**
 * The client's request for an export -> what the job reads and writes. The grammar reads it twice: in the request, so
 * that errors are answered at once, and in the job, which stores the request as the client wrote it.
 */
import { type TableFormat, tableFormats } from "../plans/table-formats.ts";
import { exportColumn, type ExportColumn, type ExportPlan } from "../plans/export-plan.ts";
import { invalidParameter } from "../values/errors.ts";
import { ExactNumber, type Json } from "../values/json.ts";
import { described, type Grammar, meaning, object, optional, word } from "../grammar/grammar.ts";
import { orderedBy } from "./order.ts";
import { columnList } from "../values/types/column.ts";
import { isEmptyPath } from "../query/paths.ts";
import { selectColumns } from "../query/select.ts";
import { sortColumns } from "../query/sort.ts";
import { allOf, type Select, selectFrom } from "../query/statement.ts";
import { where } from "../query/where.ts";

export interface ExportRequest {
  readonly format: TableFormat;
  /** All rows of the export, in their order. */
  readonly list: Select;
  /** What the file shows of them. */
  readonly shown: readonly ExportColumn[];
}

/** Rejects with Invalid payload, Invalid parameter or Invalid field, as read does. */
export function exportGrammar(plan: ExportPlan): Grammar<ExportRequest> {
  const { source, columns, named, exported, key, scope } = plan;
  const parts = object({
    format: described<TableFormat>(
      optional(
        word(tableFormats, () =>
          invalidParameter(`format must be one of ${tableFormats.join(", ")}`),
        ),
        "xlsx",
      ),
      { default: "xlsx" },
    ),
    select: selectColumns(named),
    where: where(named),
    sort_columns: sortColumns(named, "direction or order"),
  });
  return meaning(parts, ({ format, select, where: filter, sort_columns: sort }) => {
    // Without a select, the file holds what the configuration says.
    const shown =
      select === columnList(named) ? exported : select.map((column) => exportColumn(column, plan));
    const read = shown.flatMap(({ column }) => (isEmptyPath(column) ? [] : [column]));
    return {
      format,
      shown,
      list: selectFrom(source, {
        // There is nothing to read for paths that the caller may not use.
        columns: read.length > 0 ? read : [...columns.values()].slice(0, 1),
        where: allOf(scope, filter),
        sort: orderedBy(sort, { columns, key }),
      }),
    };
  });
}

/** What of the body the job needs, as plain JSON: numbers that JavaScript cannot hold become texts of their digits. */
export function requestOf(body: Record<string, unknown>): { [name: string]: Json } {
  const { format = "xlsx", select = null, where = null, sort_columns = null, params } = body;
  return JSON.parse(JSON.stringify({ format, select, where, sort_columns, params }, plainNumber));
}

/** `value` has been through `toJSON` already. */
function plainNumber(this: Record<string, unknown>, name: string, value: unknown): unknown {
  const own = this[name];
  return own instanceof ExactNumber ? own.source : value;
}
