/**
 * datatables: answers one page of a grid, the row counts, and the value lists of the extensions, in the protocol of the
 * DataTables library.
 */
import { defineAction } from "../calls/action.ts";
import type { Keep } from "../cache/cache.ts";
import { type CountMode, countRows, type RowCount } from "../lists/count.ts";
import { type CountedPage, readCountedPage } from "../lists/counted-page.ts";
import type { GridPlan } from "../plans/entity.ts";
import { createCountValues, optionsOf } from "../grid/options.ts";
import { type GridRequest, parseDraw, parseGrid } from "../grid/request.ts";
import type { ListText, TextForm } from "../query/list-text.ts";
import type { Select } from "../query/statement.ts";
import { showsRowsAsRead, shownRows } from "../grid/rows.ts";
import { paneOptions } from "../grid/search-panes.ts";
import { isObject } from "../values/json.ts";
import type { ReadQueries, ReadSession } from "../callers/session.ts";
import { gridAnswerSchema, gridSchema } from "../grid/grid-schema.ts";

export const datatables = defineAction<GridPlan>({
  name: "datatables",
  summary: "Answers one page of a grid, in the words of the DataTables library.",
  mode: "reads",
  methods: ["GET", "POST"],
  requires: ["gridSource"],
  errors: ["invalidParameter", "invalidField"],
  showsColumns: true,
  takesOptions: false,
  takesEmptyBody: true,
  takesForm: true,
  needs: (entity) => entity.grid,
  input: (plan, { entity }) => gridSchema(plan, entity),
  answer: (plan, { entity }) => ({
    status: 200,
    schema: gridAnswerSchema(plan, entity),
    isBare: true,
  }),

  // The library reads these members for every status, and missing counts would become NaN.
  besideErrors: (body) => ({
    draw: drawOf(body),
    recordsTotal: 0,
    recordsFiltered: 0,
    data: [],
  }),
  showsErrorsInline: (plan) => plan.showsErrorsInline,

  async run({ body, entity, session, cache }, plan) {
    const { draw, ...request } = parseGrid(body, plan, entity.settings);
    const keep = cache.keeping({ entity, kind: "datatables", dependsOn: plan.dependsOn });
    const asked = { ...request, keep, counted: countedParameters(body) };
    const rest = await keep(["page", cachedParameters(body)], () =>
      membersOf(session, plan, asked),
    );
    return { status: 200, body: { draw }, rest, isBare: true };
  },
});

/**
 * The parameters without those that differ in each request: the draw counter, and the parameter that the library adds
 * against caching.
 */
function cachedParameters(body: Record<string, unknown>): object {
  const { draw: _draw, _: _cacheBuster, ...parameters } = body;
  return parameters;
}

/** Those on which the number of rows behind the pages depends: all pages and orders share them. */
function countedParameters(body: Record<string, unknown>): object {
  const { start: _start, length: _length, order: _order, ...parameters } = body;
  const { draw: _draw, _: _cacheBuster, sort_columns: _sort, ...counted } = parameters;
  return counted;
}

type Asked = Omit<GridRequest, "draw"> & { readonly keep: Keep; readonly counted: object };

/** All members of the answer except `draw`. The statements run concurrently. */
async function membersOf(
  session: ReadSession,
  plan: GridPlan,
  request: Asked,
): Promise<Record<string, unknown>> {
  const { builderColumns, listColumns } = plan;
  const { filter } = request;
  const countValues = createCountValues(session, plan);
  const [all, page, panes, builder, lists] = await Promise.all([
    filter === null ? null : totalOf(session, plan, request),
    pageOf(session, plan, request),
    paneOptions(plan.paneColumns, { ...request, countValues }),
    optionsOf(builderColumns, { countValues, hasEmpty: false }),
    optionsOf(listColumns, { countValues, hasEmpty: true }),
  ]);
  const { rows, count: filtered } = page;
  return {
    ...countsOf(request, rows.found, { total: all ?? filtered, filtered }),
    data: rows.data,
    ...(plan.paneColumns.length > 0 && { searchPanes: { options: panes } }),
    ...(builderColumns.length > 0 && { searchBuilder: { options: builder } }),
    ...(listColumns.length > 0 && { columnControl: lists }),
  };
}

/** The number of all rows of the source, without the request's filters. All pages and filters share it. */
async function totalOf(
  queries: ReadQueries,
  { source }: GridPlan,
  { count, keep }: Asked,
): Promise<RowCount> {
  const statement = { kind: "count", source, where: null } as const;
  return JSON.parse(await keep(totalKey(count), () => countRows(queries, statement, count)));
}

const totalKey = (count: CountMode): unknown => ["total", count];

/** The rows of the page, and the number of those that the filters leave. */
function pageOf(
  session: ReadSession,
  plan: GridPlan,
  { filter, sort, start, length, count, keep, counted }: Asked,
): Promise<CountedPage<GridRows>> {
  const { source, columns, key } = plan;
  return readCountedPage(session, {
    list: {
      kind: "select",
      source,
      columns: [...columns.values()],
      where: filter,
      sort,
      limit: null,
      offset: 0,
      lock: false,
    },
    key,
    size: length,
    offset: start,
    countMode: count,
    readRows: (queries, select, form) => readRows(queries, plan, { select, form }),
    keepCount: async (make) =>
      JSON.parse(await keep(filter === null ? totalKey(count) : ["filtered", counted], make)),
  });
}

type GridRows = Pick<ListText, "data" | "found">;

/** As one text, unless the grid's rows are made of their values. */
async function readRows(
  queries: ReadQueries,
  plan: GridPlan,
  { select, form }: { readonly select: Select; readonly form: TextForm },
): Promise<GridRows> {
  if (showsRowsAsRead(plan)) return queries.allAsText(select, form);
  const rows = await queries.all(select);
  if (form.isReversed) rows.reverse();
  return { data: shownRows(rows.slice(0, form.rowsMax), plan), found: rows.length };
}

/** Corrects inexact counts by the rows of this page, so that the grid can continue to page and stops at the end. */
function countsOf(
  { start, count, filter }: Asked,
  found: number,
  { total, filtered }: { total: RowCount; filtered: RowCount },
): Record<string, unknown> {
  const seen = start + found;
  if (total.total === null || filtered.total === null)
    return { recordsTotal: seen, recordsFiltered: seen };
  if (!total.isEstimate && !filtered.isEstimate) {
    const counts = { recordsTotal: total.total, recordsFiltered: filtered.total };
    return count === "estimated" ? { ...counts, count_mode: "exact" } : counts;
  }
  const left = Math.max(filtered.total, found > 0 ? seen : 0);
  const all = filter === null ? left : Math.max(total.total, left);
  return { recordsTotal: all, recordsFiltered: left, count_mode: "estimated" };
}

/** 0 when the request has no valid `draw`. */
function drawOf(body: unknown): number {
  if (!isObject(body)) return 0;
  try {
    return parseDraw(body);
  } catch {
    return 0;
  }
}
