/**
 * The client's request for an export -> what the job reads and writes. `parseExport` runs twice: when the request
 * comes, so that its faults are answered at once, and in the job, which has the request as the client wrote it.
 */
import type { ExportPlan } from "../plans/entity.ts";
import { invalidParameter } from "../values/errors.ts";
import { ExactNumber, isObject, type Json } from "../values/json.ts";

import { orderedBy } from "./order.ts";
import { parseSort } from "../query/sort.ts";
import { allOf, type Select } from "../query/statement.ts";
import { parseWhere } from "../query/where.ts";

export const exportFormats = ["xlsx", "csv", "jsonl"] as const;
export type ExportFormatName = (typeof exportFormats)[number];

/** What each format is called in HTTP. */
export const exportMediaTypes: Readonly<Record<ExportFormatName, string>> = {
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  csv: "text/csv; charset=utf-8",
  jsonl: "application/x-ndjson; charset=utf-8",
};

export interface ExportRequest {
  readonly format: ExportFormatName;
  /** All rows of the export, in their order. */
  readonly list: Select;
}

/** Rejects with Invalid payload, Invalid parameter or Invalid field, as read does. */
export function parseExport(
  body: { readonly [name: string]: unknown },
  { source, columns, exported, key, scope }: ExportPlan,
): ExportRequest {
  const list: Select = {
    kind: "select",
    source,
    columns: exported.map(({ column }) => column),
    where: allOf(scope, parseWhere(body["where"], columns)),
    sort: orderedBy(parseSort(withDirections(body["sort_columns"]), columns), { columns, key }),
    limit: null,
    offset: 0,
    lock: false,
  };
  return { format: formatOf(body["format"] ?? "xlsx"), list };
}

/** What of the body the job needs, as plain JSON: numbers that JavaScript cannot hold become texts of their digits. */
export function requestOf(body: Record<string, unknown>): { [name: string]: Json } {
  const { format = "xlsx", where = null, sort_columns = null } = body;
  return JSON.parse(JSON.stringify({ format, where, sort_columns }, plainNumber));
}

/** `value` has been through `toJSON` already. */
function plainNumber(this: Record<string, unknown>, name: string, value: unknown): unknown {
  const own = this[name];
  return own instanceof ExactNumber ? own.source : value;
}

function formatOf(format: unknown): ExportFormatName {
  const known = exportFormats.find((name) => name === format);
  if (known) return known;
  throw invalidParameter(`format must be one of ${exportFormats.join(", ")}`);
}

/** `order` is the direction's other name. */
function withDirections(sortColumns: unknown): unknown {
  if (!Array.isArray(sortColumns)) return sortColumns;
  return sortColumns.map((item: unknown) =>
    isObject(item) && item["direction"] === undefined && item["order"] !== undefined
      ? { column: item["column"], direction: item["order"] }
      : item,
  );
}
