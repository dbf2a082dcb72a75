/**
 * A page of records for OData, of a set or of the records to which one record leads: the statement of read with an
 * offset of any size, and the place where the next page begins. Pages go on by cursor where the records show their key,
 * else by the number of records before them.
 */
import {
  cursorFailure,
  type CursorList,
  type CursorPage,
  pageBehind,
  placeBehind,
  selectPage,
} from "../lists/cursor.ts";
import { countRows } from "../lists/count.ts";
import { onlyPage, orderedBy } from "../lists/order.ts";
import { type PageBeginning, beginningAt, mustHaveEnded } from "../lists/page.ts";
import type { Entity, RequestSettings } from "../plans/entity.ts";
import { searchCondition } from "../query/list-search.ts";
import type { ReadQueries } from "../query/session.ts";
import { sortColumns } from "../query/sort.ts";
import { allOf, type Condition, type Select } from "../query/statement.ts";
import { where } from "../query/where.ts";
import { recordsOf, type Showing, showingOf } from "../records/shown-records.ts";
import { AppError, invalidParameter } from "../values/errors.ts";
import { limits } from "../values/limits.ts";
import type { Row } from "../values/row.ts";
import { type Column, columnList, type Columns, type Source } from "../values/types/column.ts";
import { odataLimits } from "./odata-limits.ts";
import { expandedBy } from "./nested-records.ts";
import type { ReadOptions } from "./query-options.ts";
import type { ODataPlace } from "./places.ts";

/** The records of a list before a request narrows them. */
export interface RecordList {
  readonly source: Source;
  readonly place: ODataPlace;
  /** What the operator adds, or what the records belong to; null: all of them. */
  readonly scope: Condition | null;
  /** Differs from that of every other list. */
  readonly name: string;
  readonly settings: RequestSettings;
}

export interface ODataPage {
  readonly list: Select;
  readonly showing: Showing | null;
  readonly cursorList: CursorList;
  /** Rows of the page, at most. */
  readonly size: number;
  /** Null: as many as there are. */
  readonly top: number | null;
  /** Rows before the page. */
  readonly passed: number;
  /** Null: the page begins after `passed` rows. */
  readonly after: CursorPage["after"];
  /** Behind the cursor. */
  readonly beginning: PageBeginning;
  readonly canGoOn: AppError | "by cursor" | "by number";
  readonly isCounted: boolean;
}

/** `sizeMax`: null = the client leaves it to the service. Rejects as read does. */
export function pageOfOptions(
  options: ReadOptions,
  { source, place, scope, name, settings }: RecordList,
  sizeMax: number | null,
): ODataPage {
  const { columns, key } = place;
  const expanded = expandedBy(options.expand, columns);
  const shown = shownColumns(options, place);
  const showing = showingOf(
    { select: shown, expand: expanded, versions: false },
    { ...emptyPlan, source, columns, key },
  );
  const searched = options.search.map((terms): Condition => ({
    kind: "or",
    members: terms.flatMap((text) => searchCondition(text, columnList(columns)) ?? []),
  }));
  const filter = allOf(filterOf(options, columns), ...searched);
  const sort = orderedBy(sortColumns(columns).read(options.sort), place);
  const list: Select = {
    kind: "select",
    source,
    columns: showing?.columns ?? shown,
    where: allOf(scope, filter),
    sort,
    limit: null,
    offset: 0,
    lock: false,
  };
  const cursorList = { name, sort, filter, hasKey: key.length > 0 };
  const fault = onlyPage(place);
  const showsKey = key.every((column) => columns.has(column.name));
  const begin =
    options.token === null
      ? { passed: options.skip, after: null }
      : beginOf(options.token, cursorList);
  const { offsetMax } = settings;
  const beyond = () =>
    invalidParameter(
      `The page lies beyond the first ${offsetMax} records; narrow the list with $filter, or follow @odata.nextLink`,
    );
  if (fault !== null && begin.passed > 0) throw fault;
  const usual =
    expanded.many.length > 0 ? odataLimits.expandedPageDefault : odataLimits.pageDefault;
  const most = fault === null ? Math.min(sizeMax ?? usual, limits.limitMax) : limits.limitMax;
  return {
    list,
    showing,
    cursorList,
    size: Math.min(options.top ?? most, most),
    top: options.top,
    ...begin,
    beginning: beginningAt(begin.after === null ? begin.passed : 0, { offsetMax, fault: beyond }),
    canGoOn: fault ?? (showsKey ? "by cursor" : "by number"),
    isCounted: options.isCounted,
  };
}

/** What `where` says of itself is about `$filter`. */
function filterOf(options: ReadOptions, columns: Columns): Condition | null {
  try {
    return where(columns).read(options.where);
  } catch (error) {
    if (!(error instanceof AppError) || !error.message.startsWith("where ")) throw error;
    throw new AppError(error.kind, `$filter ${error.message.slice("where ".length)}`);
  }
}

/** The parts of a plan that only versions need. */
const emptyPlan = {
  named: new Map(),
  scope: null,
  dependsOn: [],
  fullText: null,
  times: { create: null, update: null },
};

/** The selected columns, and those of the key where related records may need its address. */
function shownColumns(
  { select, expand }: ReadOptions,
  { columns, key }: ODataPlace,
): readonly Column[] {
  if (select === null) return columnList(columns);
  const names = new Set(select);
  if (expand.length > 0 || select.length === 0)
    for (const { name } of key) if (columns.has(name)) names.add(name);
  const chosen = [...names].map((name) => columns.get(name)!);
  return chosen.length > 0 ? chosen : columnList(columns).slice(0, 1);
}

/** `120.abc`: the rows before the page, and the cursor of the last one; without a cursor, only their number counts. */
function beginOf(token: string, list: CursorList): Pick<ODataPage, "passed" | "after"> {
  const [, passed, cursor] = /^(\d{1,15})\.([\w-]*)$/.exec(token) ?? [];
  if (passed === undefined || cursor === undefined)
    throw invalidParameter("$skiptoken is not valid; use the @odata.nextLink of an answer");
  return { passed: Number(passed), after: cursor === "" ? null : placeBehind(cursor, list) };
}

export interface ReadPage {
  readonly records: readonly Readonly<Row>[];
  /** The `$skiptoken` of the next page; null: there is none. */
  readonly next: string | null;
  /** Null: the records were not counted. */
  readonly count: number | null;
}

/** `count`: how the records are counted; absent: by a statement of their own. */
export async function readODataPage(
  queries: ReadQueries,
  page: ODataPage,
  count = () => countOf(queries, page),
): Promise<ReadPage> {
  const { records, next } = await recordsOfPage(queries, page);
  return { records, next, count: page.isCounted ? await count() : null };
}

export async function countOf(
  queries: ReadQueries,
  { list }: Pick<ODataPage, "list">,
): Promise<number> {
  const { source, where: filter } = list;
  const { total } = await countRows(queries, { kind: "count", source, where: filter }, "exact");
  return total!;
}

async function recordsOfPage(
  queries: ReadQueries,
  page: ODataPage,
): Promise<Pick<ReadPage, "records" | "next">> {
  const { list, showing, size, top, passed, after, beginning, canGoOn, cursorList } = page;
  await mustHaveEnded(queries, list, beginning.tooFar);
  if (size === 0) return { records: [], next: null };
  const cursorPage: CursorPage = { list: cursorList, perPage: size, after };
  const isByCursor = canGoOn === "by cursor";
  const select: Select = {
    ...(isByCursor ? selectPage(list, cursorPage) : { ...list, limit: size + 1 }),
    offset: beginning.offset,
  };
  const rows = await queries
    .allAsText(select, { rowsMax: size, asRows: true })
    .catch((error: unknown) => {
      throw cursorFailure(error, cursorPage);
    });
  const found = rows.data as readonly Readonly<Row>[];
  const hasNext = rows.found > size && (top === null || top > size);
  if (hasNext && canGoOn instanceof AppError) throw canGoOn;
  const cursor = hasNext && isByCursor ? cursorBehind(rows, cursorPage) : "";
  const next = hasNext ? `${passed + size}.${cursor}` : null;
  if (showing === null) return { records: found, next };
  const { records } = await recordsOf(queries, found, { ...showing, source: list.source });
  return { records, next };
}

/** Empty where no cursor can separate the rows; the next page then begins by their number. */
function cursorBehind(rows: Parameters<typeof pageBehind>[0], page: CursorPage): string {
  try {
    return String(pageBehind(rows, page)["next_cursor"]);
  } catch (error) {
    if (error instanceof AppError && error.kind === "invalidParameter") return "";
    throw error;
  }
}

/** Whether everything that the page shows must be of one moment. */
export const isOfOneMoment = ({ showing, isCounted }: ODataPage): boolean =>
  showing !== null && (showing.many.length > 0 || isCounted);

/** The list's name, for its cursors. */
export const listName = (
  { project, name }: Pick<Entity, "project" | "name">,
  ...further: string[]
): string => [`${project}/${name}`, ...further].join("/");
