/**
 * datatables: answers one page of a grid, the row counts, and the value lists of the extensions, in the protocol of the
 * DataTables library.
 */
import { defineAction } from "../calls/action.ts";
import type { Keep } from "../cache/cache.ts";
import { type CountMode, countRows, type RowCount } from "../lists/count.ts";
import {
  type CountedPage,
  type CountedPageRequest,
  readCountedNow,
  readCountedPage,
} from "../lists/counted-page.ts";
import type { GridPlan } from "../plans/grid-plan.ts";
import { createCountValues, optionsOf } from "../grid/options.ts";
import { draw as gridDraw, gridGrammar, type GridRequest } from "../grid/request.ts";
import { addMissing, type MemberPath } from "../grid/missing-columns.ts";
import type { ListText, TextForm } from "../query/list-text.ts";
import type { Select } from "../query/statement.ts";
import { paneOptions } from "../grid/search-panes.ts";
import { type GridVersions, versionsFor, versionsOf } from "../grid/versions.ts";
import { type Nesting, nestingOf } from "../lists/nested-rows.ts";
import { selectedRecordSchema, versionName } from "../lists/shown-schema.ts";
import { type Column, columnList } from "../values/types/column.ts";
import { closedObject } from "../values/json-shapes.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import type { Entity } from "../plans/entity.ts";
import { isObject, type Json } from "../values/json.ts";
import { jsonOf, parsed } from "../values/ready-json.ts";
import { relatedDependencies } from "../query/hops.ts";
import type { ReadQueries } from "../query/session.ts";
import { joinedKey } from "../values/types/key.ts";
import type { Row } from "../values/row.ts";

export const datatables = defineAction<GridPlan, GridRequest>({
  name: "datatables",
  summary: "Answers one page of a grid, in the words of the DataTables library.",
  mode: "reads",
  methods: ["GET", "POST"],
  requires: ["gridSource"],
  isStep: false,
  errors: ["validationFailed", "invalidParameter", "invalidField"],
  showsColumns: true,
  takesEmptyBody: true,
  takesForm: true,
  needs: (entity) => entity.grid,
  sourceOf: ({ source }) => source,
  grammar: gridGrammar,
  answer: (plan, { entity }) => ({ status: 200, schema: answerSchema(plan, entity), isBare: true }),

  // The library reads these members for every status, and missing counts would become NaN.
  besideErrors: (body) => ({ draw: drawOf(body), recordsTotal: 0, recordsFiltered: 0, data: [] }),
  showsErrorsInline: (plan) => plan.showsErrorsInline,

  async run({ input: { draw, ...request }, body, entity, session, cache }, plan) {
    const { filter: where, related, sort } = request;
    const versions = request.versions ? versionsFor(plan, entity.read) : null;
    const isAlone = versions?.areRead ?? true;
    const own = isAlone ? plan.dependsOn : [...plan.dependsOn, ...versions!.read.dependsOn];
    const columns = [...related, ...plan.paneColumns, ...plan.builderColumns, ...plan.listColumns];
    const dependsOn = relatedDependencies(own, { where, columns, sort });
    const keep = cache.keeping({ entity, kind: "datatables", dependsOn });
    const asked = { ...request, versions, keep, counted: countedParameters(body) };
    const rest = await keep(["page", cachedParameters(body)], () =>
      dependsOn === own && isAlone
        ? membersOf(session, plan, asked, (list) => readCountedPage(session, list))
        : session.snapshot((queries) =>
            membersOf(queries, plan, { ...asked, keep: keepNothing }, (list) =>
              readCountedNow(queries, list),
            ),
          ),
    );
    return { status: 200, body: { draw }, rest, isBare: true };
  },
});

/** With related records, a count that was kept could be of another moment than the rows. */
const keepNothing: Keep = async (_parameters, make) => jsonOf(await make());

/**
 * The parameters without those that differ in each request: the draw counter, and the parameter that the library adds
 * against caching.
 */
function cachedParameters(body: Record<string, unknown>): object {
  const { draw: _draw, _: _cacheBuster, ...parameters } = body;
  return parameters;
}

/** The parameters that affect the number of rows: all pages and orders share them. */
function countedParameters(body: Record<string, unknown>): object {
  const { start: _start, length: _length, order: _order, ...parameters } = body;
  const { draw: _draw, _: _cacheBuster, sort_columns: _sort, ...counted } = parameters;
  return counted;
}

type ReadPage = (request: CountedPageRequest<GridRows>) => Promise<CountedPage<GridRows>>;

interface Asked extends Omit<GridRequest, "draw" | "versions"> {
  readonly versions: GridVersions | null;
  readonly keep: Keep;
  readonly counted: object;
}

/** All members of the answer except `draw`. The statements run concurrently. */
async function membersOf(
  session: ReadQueries,
  plan: GridPlan,
  request: Asked,
  readPage: ReadPage,
): Promise<Record<string, unknown>> {
  const { builderColumns, listColumns } = plan;
  const { filter } = request;
  const countValues = createCountValues(session, plan);
  const [all, page, panes, builder, lists] = await Promise.all([
    filter === null ? null : totalOf(session, plan, request),
    readPage(pageOf(plan, request)),
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
  return parsed(
    await keep(totalKey(count), () => countRows(queries, statement, count)),
  ) as RowCount;
}

const totalKey = (count: CountMode): unknown => ["total", count];

/** The rows of the page, and the number of those that the filters leave. */
function pageOf(
  plan: GridPlan,
  { filter, sort, related, missing, versions, start, length, count, keep, counted }: Asked,
): CountedPageRequest<GridRows> {
  const { source, key } = plan;
  const own = columnList(plan.columns);
  const nesting = nestingOf(related);
  return {
    list: {
      kind: "select",
      source,
      columns: columnsOf(own, nesting, versions),
      where: filter,
      sort,
      limit: null,
      offset: 0,
      lock: false,
    },
    key,
    size: length,
    ...start,
    countMode: count,
    readRows: (queries, select, form) =>
      readRows(queries, plan, { select, form, nesting, missing, versions }),
    keepCount: async (make) =>
      parsed(
        await keep(filter === null ? totalKey(count) : ["filtered", counted], make),
      ) as RowCount,
  };
}

/** The own columns first. Always the same list without additions, because statements are cached by it. */
const columnsOf = (
  own: readonly Column[],
  nesting: Nesting | null,
  versions: GridVersions | null,
): readonly Column[] =>
  nesting === null && versions === null
    ? own
    : [...new Set([...own, ...(versions?.columns ?? []), ...(nesting?.columns ?? [])])];

type GridRows = Pick<ListText, "data" | "found">;

interface Reading {
  readonly select: Select;
  readonly form: TextForm;
  readonly nesting: Nesting | null;
  readonly missing: readonly MemberPath[];
  readonly versions: GridVersions | null;
}

/** As one text, unless the grid's rows are made of their values. */
async function readRows(
  queries: ReadQueries,
  plan: GridPlan,
  { select, form, nesting, missing, versions }: Reading,
): Promise<GridRows> {
  if (nesting === null && versions === null && missing.length === 0 && showsRowsAsRead(plan))
    return queries.allAsText(select, form);
  const rows = await queries.all(select);
  if (form.isReversed) rows.reverse();
  const page = rows.slice(0, form.rowsMax);
  const data = shownRows(page, plan, nesting);
  if (versions !== null)
    (await versionsOf(queries, page, versions)).forEach((version, at) => {
      data[at]![versionName] = version;
    });
  for (const path of missing) for (const row of data) addMissing(row, path);
  return { data, found: rows.length };
}

/** Corrects inexact counts by the rows of this page, so that the grid can continue to page and stops at the end. */
function countsOf(
  { start, count, filter }: Asked,
  found: number,
  { total, filtered }: { total: RowCount; filtered: RowCount },
): Record<string, unknown> {
  const seen = start.offset + found;
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
    return gridDraw.read(body["draw"]);
  } catch {
    return 0;
  }
}

/** The whole answer: it has no envelope. */
function answerSchema(plan: GridPlan, { settings }: Entity): JsonSchema {
  const count: JsonSchema = { type: "integer", minimum: 0 };
  const isPlain = plan.nestedNames.size === 0 && plan.rowId.length === 0;
  const rows: JsonSchema = {
    ...selectedRecordSchema(plan.named, settings),
    required: [...plan.columns.keys()],
    additionalProperties: { type: "null", description: missingNote },
  };
  const options: JsonSchema = { type: "object" };
  return closedObject(
    {
      draw: { type: "integer" },
      recordsTotal: count,
      recordsFiltered: count,
      count_mode: { enum: ["exact", "estimated"] },
      data: { type: "array", items: isPlain ? rows : { type: "object" } },
      searchPanes: options,
      searchBuilder: options,
      columnControl: options,
    },
    ["draw", "recordsTotal", "recordsFiltered", "data"],
  );
}

const missingNote = "A name in the `columns` of the request that is no field.";

/** Whether the grid shows rows as they are read: neither nested nor with a row id. */
const showsRowsAsRead = ({ nestedNames, rowId }: GridPlan): boolean =>
  nestedNames.size === 0 && rowId.length === 0;

/**
 * The rows of the page as the library reads them: it reads a field `a.b` as the member `b` of `a`, so rows are nested
 * accordingly, and it uses `DT_RowId` as the id of the row's element.
 */
function shownRows(
  rows: readonly Row[],
  { columns, nestedNames, rowId }: GridPlan,
  nesting: Nesting | null,
): Row[] {
  return rows.map((row) => {
    const isNamed = rowId.length > 0 && rowId.every(({ name }) => (row[name] ?? null) !== null);
    const shown: Row = isNamed ? { DT_RowId: joinedKey(row, rowId) } : {};
    for (const name of columns.keys())
      put(shown, nestedNames.get(name) ?? [name], row[name] ?? null);
    if (nesting !== null) addRelated(shown, nesting.recordOf(row));
    return shown;
  });
}

/** Adds the members that are not there: an own column with dots in its name comes before a path. */
function addRelated(row: Row, record: Row): void {
  for (const [name, value] of Object.entries(record)) {
    const own = row[name];
    if (own === undefined) row[name] = value;
    else if (isObject(own) && isObject(value)) addRelated(own as Row, value as Row);
  }
}

/** No name is a prefix of another, so every object on the path was created here. */
function put(row: Row, path: readonly string[], value: Json): void {
  let within = row;
  for (const part of path.slice(0, -1)) within = (within[part] ??= {}) as Row;
  within[path.at(-1)!] = value;
}
