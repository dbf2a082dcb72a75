/** read: a list of records, filtered, searched, sorted, and either cut at a limit or paginated, by number or by cursor. */
import { defineAction } from "../calls/action.ts";
import type { Keep } from "../cache/cache.ts";
import { type Column, columnList, type Columns } from "../values/column.ts";
import { type CountMode, parseCountMode, type RowCount } from "../lists/count.ts";
import { readCountedPage } from "../lists/counted-page.ts";
import {
  asksForCursor,
  cursorFailure,
  type CursorPage,
  pageBehind,
  parseCursorPage,
  selectPage,
} from "../lists/cursor.ts";
import type { Entity, ReadPlan } from "../plans/entity.ts";
import { invalidParameter, invalidPayload } from "../values/errors.ts";
import {
  lookAheadPagination,
  type NumberedPage,
  type Page,
  paginationOf,
  parsePage,
} from "../lists/page.ts";
import { onlyPage, orderedBy } from "../lists/order.ts";
import type { ReadQueries, ReadSession } from "../callers/session.ts";
import type { ListText } from "../query/list-text.ts";
import { parseSort } from "../query/sort.ts";
import { allOf, type Condition, type Select } from "../query/statement.ts";
import { columnOf, mustHaveText, parseWhere, patternText } from "../query/where.ts";
import { readAnswerSchema, readSchema } from "../lists/read-schema.ts";

export const read = defineAction<ReadPlan>({
  name: "read",
  summary: "Lists records, filtered, searched and sorted, as pages or up to a limit.",
  mode: "reads",
  methods: ["POST"],
  requires: ["source"],
  errors: ["invalidParameter", "invalidField"],
  showsColumns: true,
  takesOptions: false,
  takesEmptyBody: false,
  needs: (entity) => entity.read,
  input: (plan, { entity }) => readSchema(plan, entity),
  answer: (plan, { entity }) => ({ status: 200, schema: readAnswerSchema(plan, entity) }),

  async run({ body, entity, session, cache }, plan) {
    const request = parseRead(body, plan, entity);
    const keep = cache.keeping({ entity, kind: "list", dependsOn: plan.dependsOn });
    const rest = await keep(["rows", body], () => membersOf(session, request, keep));
    return { status: 200, body: {}, rest };
  },
});

/** A checked request: the filter and order of the list, and the page that is answered. */
interface ReadRequest {
  readonly list: Select;
  readonly key: readonly Column[];
  readonly paging: Page | CursorPage;
  /** Only for pages with numbers. */
  readonly countMode: CountMode;
  /** The part of the request that determines the count: all pages of one list share it. */
  readonly counted: unknown;
}

function parseRead(
  body: Record<string, unknown>,
  plan: ReadPlan,
  { project, name, settings }: Entity,
): ReadRequest {
  const { source, columns, scope, key } = plan;
  const filter = allOf(parseWhere(body["where"], columns), parseSearch(body, columns));
  const sort = orderedBy(parseSort(body["sort_columns"], columns), plan);
  const list: Select = {
    kind: "select",
    source,
    columns: parseSelect(body["select"], columns),
    where: allOf(scope, filter),
    sort,
    limit: null,
    offset: 0,
    lock: false,
  };
  const countMode = parseCountMode(body["count"]);
  const { where, search_value, search_by } = body;
  const counted = ["total", countMode, { where, search_value, search_by }];
  if (!asksForCursor(body)) {
    const paging = parsePage(body, settings.offsetMax);
    const fault = paging.offset > 0 ? onlyPage(plan) : null;
    if (fault) throw fault;
    return { list, key, paging, countMode, counted };
  }
  mustTellRowsApart(plan);
  const cursorList = { name: `${project}/${name}`, sort, filter, hasKey: plan.key.length > 0 };
  return { list, key, paging: parseCursorPage(body, cursorList), countMode, counted };
}

/** A cursor contains the sorted values and the key, so the client must be allowed to see the key. */
function mustTellRowsApart(plan: ReadPlan): void {
  const fault = onlyPage(plan);
  if (fault) throw fault;
  if (plan.key.every(({ name }) => plan.columns.has(name))) return;
  throw invalidParameter(
    "This endpoint cannot be paged by cursor, because its records do not show their whole key; use page",
  );
}

type Members = Record<string, unknown>;

/** The members of the answer. */
async function membersOf(session: ReadSession, request: ReadRequest, keep: Keep): Promise<Members> {
  const { list, paging } = request;
  if ("after" in paging) return readBehind(session, list, paging);
  const { page, size, offset } = paging;
  if (page !== null) return readPage(session, { ...request, page: { page, size, offset } }, keep);
  return shownIn(await session.allAsText({ ...list, limit: size }, { rowsMax: size }));
}

/** The page after a cursor. */
async function readBehind(
  session: ReadQueries,
  list: Select,
  cursor: CursorPage,
): Promise<Members> {
  const form = { rowsMax: cursor.perPage };
  const rows = await session.allAsText(selectPage(list, cursor), form).catch((error: unknown) => {
    throw cursorFailure(error, cursor);
  });
  return { ...shownIn(rows), pagination: pageBehind(rows, cursor) };
}

async function readPage(
  session: ReadSession,
  { list, key, countMode, counted, page }: ReadRequest & { page: NumberedPage },
  keep: Keep,
): Promise<Members> {
  const { size, offset } = page;
  const { rows, count } = await readCountedPage(session, {
    list,
    key,
    size,
    offset,
    countMode,
    readRows: (queries, select, form) => queries.allAsText(select, form),
    keepCount: async (make) => JSON.parse(await keep(counted, make)) as RowCount,
  });
  const pagination =
    countMode === "exact" && count.total !== null
      ? paginationOf(page.page, size, count.total)
      : lookAheadPagination(page, rows.found, count);
  return { ...shownIn(rows), pagination };
}

const shownIn = ({ data, shown }: ListText): Members => ({ data, count: shown });

/** The columns that the request selects, in its order; all columns when it selects none. */
export function parseSelect(select: unknown, columns: Columns): readonly Column[] {
  if (select === undefined || select === null) return columnList(columns);
  if (!Array.isArray(select) || !select.every((name) => typeof name === "string")) {
    throw invalidPayload("select must be an array of column names");
  }
  if (select.length === 0) return columnList(columns);
  return [...new Set(select.map((name: string) => columnOf(name, columns, "select")))];
}

/** Search for `search_value` in the column `search_by`, or in any column; null without a search. */
function parseSearch(body: Record<string, unknown>, columns: Columns): Condition | null {
  const by = body["search_by"] ?? "all";
  if (typeof by !== "string") throw invalidParameter("search_by must be a column name or all");
  // A column named "all" takes precedence over the keyword.
  const isEverywhere = by === "all" && !columns.has(by);
  const searched = isEverywhere ? [...columns.values()] : [columnOf(by, columns, "search_by")];
  if (!isEverywhere) searched.forEach(mustHaveText);
  const value = body["search_value"];
  if (value === undefined || value === null || value === "") return null;
  const text = patternText(value, "search_value");
  return { kind: "or", members: searched.map((column) => ({ kind: "contains", column, text })) };
}
