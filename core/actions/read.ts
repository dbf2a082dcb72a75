/** read: a list of records, filtered, searched and sorted; cut at a limit, or paginated by number or by cursor. */
import { defineAction } from "../calls/action.ts";
import type { Keep } from "../cache/cache.ts";
import type { ReadQueries, ReadSession } from "../query/session.ts";
import { type Grammar, type Meaning, meaning, object } from "../grammar/grammar.ts";
import { countMode, type CountMode, type RowCount } from "../lists/count.ts";
import {
  type CountedPage,
  type PageRequest,
  readCountedNow,
  readCountedPage,
} from "../lists/counted-page.ts";
import {
  cursor,
  cursorFailure,
  type CursorList,
  type CursorPage,
  cursorPaginationSchema,
  pageBehind,
  placeBehind,
  selectPage,
} from "../lists/cursor.ts";
import { expand, namedIn } from "../lists/expand.ts";
import { onlyPage, orderedBy } from "../lists/order.ts";
import {
  listLimit,
  type PageBeginning,
  beginningOf,
  lookAheadPagination,
  type NumberedPage,
  numberedPaginationSchema,
  type Page,
  pageNumber,
  type Pagination,
  paginationOf,
  perPage,
} from "../lists/page.ts";
import {
  moreSchema,
  recordsOf,
  type Showing,
  showingOf,
  versions,
} from "../records/shown-records.ts";
import { readKept, tableOfPage, tableRows } from "../records/table-page.ts";
import { selectedRecordSchema } from "../lists/shown-schema.ts";
import type { Entity, RequestSettings } from "../plans/entity.ts";
import type { ReadPlan } from "../plans/read-plan.ts";
import type { ListText, TextForm } from "../query/list-text.ts";
import { searchBy, searchCondition, searchText } from "../query/list-search.ts";
import { byRank, fullTextCondition, fullTextSearch, searchMode } from "../query/full-text.ts";
import { relatedDependencies } from "../query/hops.ts";
import { selectColumns } from "../query/select.ts";
import { sortColumns } from "../query/sort.ts";
import { allOf, type Select } from "../query/statement.ts";
import { where } from "../query/where.ts";
import { type Column, columnList } from "../values/types/column.ts";
import type { Row } from "../values/row.ts";
import { invalidParameter } from "../values/errors.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import { parsed } from "../values/ready-json.ts";
import { absent, closedObject } from "../values/json-shapes.ts";
import { limits } from "../values/limits.ts";

export const read = defineAction<ReadPlan, ReadRequest>({
  name: "read",
  summary: "Lists records, filtered, searched and sorted, as pages or up to a limit.",
  mode: "reads",
  methods: ["POST"],
  requires: ["source"],
  errors: ["validationFailed", "invalidParameter", "invalidField"],
  showsColumns: true,
  answersCsv: true,
  needs: (entity) => entity.read,
  sourceOf: ({ source }) => source,
  grammar: (plan, { entity }) => readGrammar(plan, entity),
  answer: ({ named }, { entity: { settings } }) => ({
    status: 200,
    schema: closedObject(
      {
        data: { type: "array", items: selectedRecordSchema(named, settings) },
        count: { type: "integer", minimum: 0 },
        pagination: { anyOf: [numberedPaginationSchema, cursorPaginationSchema] },
        more: moreSchema,
      },
      ["data", "count"],
    ),
  }),

  async run({ input: request, body, entity, session, cache, wantsCsv }, plan) {
    const { where, search_value, search_by, search_mode, count } = body;
    // All pages of one list share its count.
    const searched = search_value ? body["select"] : null;
    const counted = [
      "total",
      count ?? "exact",
      { where, search_value, search_by, search_mode, searched },
    ];
    const dependsOn = relatedDependencies(
      plan.dependsOn,
      request.list,
      ...namedIn(request.showing?.many ?? []),
    );
    const keep = cache.keeping({ entity, kind: "list", dependsOn });
    if (wantsCsv) {
      const table = tableOfPage(request, entity);
      const kept = await keep(["csv", body], () => csvPage(session, request));
      return { status: 200, body: {}, table: { ...table, ...readKept(kept) } };
    }
    const rest = await keep(["rows", body], () => membersOf(session, request, { keep, counted }));
    return { status: 200, body: {}, rest };
  },
});

/** A checked request: the filter and order of the list, and the page that is answered. */
interface ReadRequest {
  readonly list: Select;
  /** Null: answers show the rows as they are. */
  readonly showing: Showing | null;
  readonly key: readonly Column[];
  readonly paging: (Page & PageBeginning) | CursorPage;
  /** Only for pages with numbers. */
  readonly countMode: CountMode;
}

/** A page by its number, a list up to a limit, or the page after a cursor. */
function readGrammar(plan: ReadPlan, entity: Entity): Grammar<ReadRequest> {
  const { source, named, scope, key, fullText } = plan;
  const parts = object({
    page: pageNumber(plan, entity.settings),
    per_page: perPage,
    limit: listLimit(),
    count: countMode,
    cursor,
    select: selectColumns(named),
    search_value: searchText("search_value"),
    search_by: searchBy(named),
    search_mode: searchMode(fullText),
    sort_columns: sortColumns(named),
    where: where(named),
    expand: expand(named),
    versions,
  });
  const request = (sent: Meaning<typeof parts>): ReadRequest => {
    const showing = showingOf(sent, plan);
    const isFullText = sent.search_mode && fullText !== null;
    if (isFullText && sent.search_by !== columnList(named))
      throw invalidParameter("search_by and search_mode fulltext cannot be combined");
    const words = isFullText ? fullTextSearch(fullText, sent.search_value) : null;
    // A search over all columns finds related records only by what the answer shows of them.
    const searched =
      sent.search_by === columnList(named)
        ? [...sent.search_by, ...sent.select.filter(({ via }) => via !== undefined)]
        : sent.search_by;
    const search = isFullText
      ? fullTextCondition(words)
      : searchCondition(sent.search_value, searched);
    const filter = allOf(sent.where, search);
    // Ranks change with the texts of other rows, so pages by cursor would skip and repeat rows.
    const isRanked = sent.sort_columns.length === 0 && sent.cursor === null;
    const sort = orderedBy(isRanked ? byRank(words) : sent.sort_columns, plan);
    const list: Select = {
      kind: "select",
      source,
      columns: showing?.columns ?? sent.select,
      where: allOf(scope, filter),
      sort,
      limit: null,
      offset: 0,
      lock: false,
    };
    const name = `${entity.project}/${entity.name}`;
    const paging =
      sent.cursor === null
        ? pageOf(sent, plan, entity.settings)
        : cursorPageOf({ ...sent, cursor: sent.cursor }, plan, {
            name,
            sort,
            filter,
            hasKey: key.length > 0,
          });
    return { list, showing, key, paging, countMode: sent.count };
  };
  return meaning(parts, request, () => ({ ...parts.schema(), anyOf: pagings(plan) }));
}

/** The ways to page, as far as the members exclude each other. */
function pagings(plan: ReadPlan): JsonSchema[] {
  const noCursor: JsonSchema = { enum: [false, null] };
  if (onlyPage(plan) !== null) return [{ properties: { cursor: noCursor, page: { const: 1 } } }];
  const byNumber: JsonSchema = { properties: { cursor: noCursor } };
  return takesCursor(plan)
    ? [byNumber, { properties: { page: absent, limit: absent } }]
    : [byNumber];
}

/** The members of a request that select its page. */
interface SentPage {
  readonly page: number | null;
  readonly per_page: number;
  readonly limit: number | null;
}

function pageOf(
  { page, per_page: size, limit }: SentPage,
  plan: ReadPlan,
  { offsetMax }: RequestSettings,
): Page & PageBeginning {
  if (page === null) return { page, size: limit ?? limits.limitDefault, offset: 0, tooFar: null };
  const instead = "page with a cursor instead (cursor: true), or narrow the list with where";
  const fault = page > 1 ? onlyPage(plan) : null;
  if (fault) throw fault;
  return { page, size, ...beginningOf({ page, size }, { offsetMax, instead }) };
}

function cursorPageOf(
  sent: SentPage & { readonly cursor: true | string },
  plan: ReadPlan,
  list: CursorList,
): CursorPage {
  mustTellRowsApart(plan);
  for (const name of ["page", "limit"] as const) {
    if (sent[name] !== null)
      throw invalidParameter(`${name} and cursor cannot be combined; leave one of them out`);
  }
  return { list, perPage: sent.per_page, after: placeBehind(sent.cursor, list) };
}

/** A cursor contains the sorted values and the key, so the client must be allowed to see the key. */
function mustTellRowsApart(plan: ReadPlan): void {
  const fault = onlyPage(plan);
  if (fault) throw fault;
  if (hasWholeKey(plan)) return;
  throw invalidParameter(
    "This endpoint cannot be paged by cursor, because its records do not show their whole key; use page",
  );
}

/** Whether requests can page by cursor. */
export const takesCursor = (plan: ReadPlan): boolean =>
  onlyPage(plan) === null && hasWholeKey(plan);

const hasWholeKey = ({ key, columns }: ReadPlan): boolean =>
  key.every(({ name }) => columns.has(name));

type Members = Record<string, unknown>;

/** How the count of a list is cached. */
interface Counting {
  readonly keep: Keep;
  /** The part of the request that determines the count. */
  readonly counted: unknown;
}

/** The members of the answer. With related records they are of one moment. */
async function membersOf(
  session: ReadSession,
  request: ReadRequest,
  counting: Counting,
): Promise<Members> {
  const { paging, showing, countMode: mode } = request;
  if (showing !== null) {
    const isCounted = !("after" in paging) && paging.page !== null && mode !== "none";
    return showing.many.length === 0 && !isCounted
      ? relatedMembers(session, request, showing)
      : session.snapshot((queries) => relatedMembers(queries, request, showing));
  }
  return shownIn(
    await pageOfRows(session, request, {
      readPage: (page) => readKeeping(session, page, counting),
    }),
  );
}

const readKeeping = (
  session: ReadSession,
  page: PageRequest<ListText>,
  { keep, counted }: Counting,
): Promise<CountedPage<ListText>> =>
  readCountedPage(session, {
    ...page,
    keepCount: async (make) => parsed(await keep(counted, make)) as RowCount,
  });

/** The page after a cursor. */
async function readBehind(
  queries: ReadQueries,
  list: Select,
  page: CursorPage,
  form: Form,
): Promise<Paged> {
  const asked = { ...form, rowsMax: page.perPage };
  const rows = await queries.allAsText(selectPage(list, page), asked).catch((error: unknown) => {
    throw cursorFailure(error, page);
  });
  return { rows, pagination: pageBehind(rows, page) };
}

interface Paged {
  readonly rows: ListText;
  readonly pagination?: Pagination;
}

const numberedPagination = (
  { countMode: mode }: ReadRequest,
  page: NumberedPage,
  { rows, count }: CountedPage<ListText>,
): Pagination =>
  mode === "exact" && count.total !== null
    ? paginationOf(page.page, page.size, count.total)
    : lookAheadPagination(page, rows.found, count);

const shownIn = ({ rows: { data, shown }, pagination }: Paged): Members => ({
  data,
  count: shown,
  ...(pagination && { pagination }),
});

async function relatedMembers(
  queries: ReadQueries,
  request: ReadRequest,
  showing: Showing,
): Promise<Members> {
  if (showing.many.length === 0 && showing.versions === null)
    return shownIn(await pageOfRows(queries, request, { form: { nests: true } }));
  const paged = await pageOfRows(queries, request, { form: { asRows: true } });
  const { source } = request.list;
  const data = paged.rows.data as readonly Row[];
  const { records, more } = await recordsOf(queries, data, { ...showing, source });
  return { ...shownIn(paged), data: records, ...(more && { more }) };
}

/** The rows of a page as a table, and the cursor of the next one. Pages with numbers are not counted. */
async function csvPage(queries: ReadQueries, request: ReadRequest): Promise<Members> {
  const uncounted = { ...request, countMode: "none" } as const;
  const { rows, pagination } = await pageOfRows(queries, uncounted, { form: { asRows: true } });
  const nextCursor = pagination?.["next_cursor"] ?? null;
  return { rows: tableRows(rows.data as readonly Row[], request), nextCursor };
}

/** How the rows of a page are shown. */
type Form = Omit<TextForm, "rowsMax">;

interface Reading {
  readonly form?: Form;
  /** Reads a page with a number; absent: with a count that is not cached. */
  readonly readPage?: (page: PageRequest<ListText>) => Promise<CountedPage<ListText>>;
}

async function pageOfRows(
  queries: ReadQueries,
  request: ReadRequest,
  { form = {}, readPage = (page) => readCountedNow(queries, page) }: Reading,
): Promise<Paged> {
  const { list, key, paging, countMode } = request;
  if ("after" in paging) return readBehind(queries, list, paging, form);
  const { page, size, offset, tooFar } = paging;
  if (page === null)
    return { rows: await queries.allAsText({ ...list, limit: size }, { ...form, rowsMax: size }) };
  const read = await readPage({
    list,
    key,
    size,
    offset,
    tooFar,
    countMode,
    readRows: (within, select, asked) => within.allAsText(select, { ...asked, ...form }),
  });
  return { rows: read.rows, pagination: numberedPagination(request, { page, size, offset }, read) };
}
