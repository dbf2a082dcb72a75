/**
 * Parses the request of the DataTables grid. All client errors are found here, before a statement runs. What the
 * library sends about its own columns (`columns`, `order`, `searchPanes`) may name columns that are not fields, which
 * are ignored; explicit requests (`where`, `sort_columns`, `searchBy`, `searchBuilder`) must name fields.
 */
import { type CountMode, parseCountMode } from "../lists/count.ts";
import type { Column, Columns } from "../values/column.ts";
import type { GridPlan, RequestSettings } from "../plans/entity.ts";
import { invalidPayload } from "../values/errors.ts";
import { isObject } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import { onlyPage, orderedBy } from "../lists/order.ts";
import { parseSort } from "../query/sort.ts";
import { allOf, type Condition, type Sort } from "../query/statement.ts";
import { parseWhere } from "../query/where.ts";
import { columnTypes } from "../values/column-types.ts";
import { parseColumnControl } from "./column-control.ts";
import { asPayload, listOf, type Sent, wholeParameter } from "./grid-parameters.ts";
import { parseSearchBuilder } from "./search-builder.ts";
import { type Panes, parsePanes, selectionOf } from "./search-panes.ts";
import { parseSearch } from "./search.ts";
import { type SentColumn, sentColumns } from "./sent-columns.ts";

export interface GridRequest {
  /** 0 when the request has none. */
  readonly draw: number;
  /** Rows before the page. */
  readonly start: number;
  /** Rows of the page. */
  readonly length: number;
  readonly count: CountMode;
  /** All that filters; null when nothing does. */
  readonly filter: Condition | null;
  /** The filter without the panes. */
  readonly rest: Condition | null;
  readonly panes: Panes;
  readonly sort: readonly Sort[];
}

/** Rejects with Invalid payload, with Invalid field (unknown column), or, for a value in `where`, with Invalid parameter. */
export function parseGrid(
  body: Sent,
  plan: GridPlan,
  { offsetMax }: Pick<RequestSettings, "offsetMax">,
): GridRequest {
  const sent = sentColumns(body["columns"], plan.columns);
  const rest = allOf(
    parseGridWhere(body["where"], plan.columns),
    parseSearch(body, plan, sent),
    parseSearchBuilder(body["searchBuilder"], plan.columns),
    parseColumnControl(sent, plan),
  );
  const panes = parsePanes(body, plan);
  return {
    draw: parseDraw(body),
    start: parseStart(body, plan, offsetMax),
    length: parseLength(body, plan),
    count: asPayload(() => parseCountMode(body["count"])),
    filter: allOf(rest, selectionOf(panes)),
    rest,
    panes,
    sort: sortOf(body, plan, sent),
  };
}

/** Rejects what is not a whole number: the page compares it with its own counter. */
export function parseDraw(body: Sent): number {
  const { MIN_SAFE_INTEGER: min, MAX_SAFE_INTEGER: max } = Number;
  return wholeParameter(body, "draw", { min, max, otherwise: 0 });
}

function parseStart(body: Sent, plan: GridPlan, offsetMax: number): number {
  const { MAX_SAFE_INTEGER: max } = Number;
  const start = wholeParameter(body, "start", { min: 0, max, otherwise: 0 });
  const fault = start > 0 ? onlyPage(plan) : null;
  if (fault) throw invalidPayload(fault.message);
  if (start <= offsetMax) return start;
  throw invalidPayload(
    `start lies beyond the first ${offsetMax} records; narrow the grid with a search, or page through read with a cursor`,
  );
}

/** -1 is the library's word for all rows; where the configuration wants it so, all are as many as there may be. */
function parseLength(body: Sent, { clampsLength }: GridPlan): number {
  const otherwise = limits.gridLengthDefault;
  if (!clampsLength)
    return wholeParameter(body, "length", { min: 1, max: limits.gridLengthMax, otherwise });
  const length = wholeParameter(body, "length", { min: -1, max: Infinity, otherwise });
  if (length === 0) throw invalidPayload("length must be -1, or a whole number from 1");
  return length === -1 ? limits.gridLengthMax : Math.min(length, limits.gridLengthMax);
}

/** `sort_columns`, then the library's `order`, then what makes it total; the first mention of a column decides. */
function sortOf(body: Sent, plan: GridPlan, sent: readonly SentColumn[]): Sort[] {
  const first = asPayload(() =>
    parseSort(listOf(body["sort_columns"], "sort_columns"), plan.columns),
  );
  const sort = new Map<Column, Sort>();
  for (const term of [...first, ...orderOf(body["order"], plan, sent)]) {
    if (!sort.has(term.column)) sort.set(term.column, term);
  }
  return orderedBy([...sort.values()], plan);
}

/** `[{column: index, dir}]`; the index is one of `columns` where these were sent, else a position in the source. */
function orderOf(value: unknown, plan: GridPlan, sent: readonly SentColumn[]): Sort[] {
  const byPosition = sent.length > 0 ? [] : [...plan.columns.values()];
  return listOf(value, "order").flatMap((one): Sort[] => {
    if (!isObject(one)) throw invalidPayload("order must be an array of {column, dir}");
    const index = wholeParameter(one, "column", { min: 0, max: Number.MAX_SAFE_INTEGER });
    const dir = one["dir"] ?? "asc";
    if (typeof dir !== "string" || !/^(asc|desc)?$/i.test(dir)) {
      throw invalidPayload("The dir of order must be asc or desc");
    }
    const named = sent[index]?.isOrderable ? sent[index].column : null;
    const column = byPosition[index] ?? named;
    // The library removes an order by an empty direction.
    if (!column || dir === "" || !columnTypes[column.type].isSorted) return [];
    return [{ column, direction: dir.toLowerCase() as Sort["direction"] }];
  });
}

/** read's filter. A form cannot say false, nor send a list without members. */
function parseGridWhere(where: unknown, columns: Columns): Condition | null {
  if (where === "") return null;
  return parseWhere(isObject(where) ? spelledOut(where) : where, columns);
}

function spelledOut(group: Sent): Sent {
  const isEmpty = Object.keys(group).join() === "logic";
  const conditions = isEmpty ? [] : group["conditions"];
  if (!Array.isArray(conditions)) return group;
  const members = conditions.map((member: unknown) => {
    if (!isObject(member)) return member;
    if (Object.hasOwn(member, "conditions")) return spelledOut(member);
    const { sensitive } = member;
    return sensitive === "true" || sensitive === "false"
      ? { ...member, sensitive: sensitive === "true" }
      : member;
  });
  return { ...group, conditions: members };
}
