/**
 * lookup: `{id, text}` pairs for drop-downs. GET searches while a user types (mode `dynamic`), POST returns a whole or
 * filtered list (mode `static`). Select2 can call GET directly, because the answer has its members `results` and
 * `pagination`.
 */
import { type About, defineAction } from "../calls/action.ts";
import type { ReadQueries } from "../query/session.ts";
import {
  absentOr,
  described,
  type Grammar,
  meaning,
  object,
  optional,
  whatever,
} from "../grammar/grammar.ts";
import { idsOf, labelMatch, lookupText, queryFilter } from "../lists/lookup-filter.ts";
import { type Nesting, nestingOf } from "../lists/nested-rows.ts";
import { inOrder, onlyPage, orderedBy } from "../lists/order.ts";
import {
  beginningOf,
  listLimit,
  mustHaveEnded,
  pageNumber,
  queryOfPage,
  type TooFar,
} from "../lists/page.ts";
import { relatedMembers, shownMembers } from "../lists/shown-schema.ts";
import type { LookupPlan } from "../plans/read-plan.ts";
import type { RequestSettings } from "../plans/entity.ts";
import type { Row } from "../values/row.ts";
import { relatedDependencies } from "../query/hops.ts";
import { selectColumns, selectedBy } from "../query/select.ts";
import { byRank, fullTextCondition, fullTextSearch, searchMode } from "../query/full-text.ts";
import { sortColumns } from "../query/sort.ts";
import { allOf, type Condition, type Select, type Sort } from "../query/statement.ts";
import { treeOrPairs } from "../query/where.ts";
import { answeredAs, type Column, type Columns } from "../values/types/column.ts";
import type { TextSearch } from "../values/types/text-index.ts";
import { AppError } from "../values/errors.ts";
import { type JsonSchema, orNull } from "../values/json-schema.ts";
import { closedObject } from "../values/json-shapes.ts";
import { limits } from "../values/limits.ts";

export const lookup = defineAction<LookupPlan, ItemsRequest>({
  name: "lookup",
  summary: "Lists ids with their labels, for drop-downs.",
  mode: "reads",
  methods: ["GET", "POST"],
  requires: ["source"],
  headers: ["X-Request-Mode"],
  errors: ["validationFailed", "invalidParameter", "invalidField", "invalidSelectFields"],
  takesEmptyBody: true,
  needs: (entity) => entity.lookup,
  sourceOf: ({ source }) => source,
  checkHeaders({ method, requestMode }) {
    const wanted = method === "GET" ? "dynamic" : "static";
    if (requestMode === wanted) return;
    throw new AppError(
      "invalidRequestMode",
      `${method} lookup needs the header X-Request-Mode: ${wanted}`,
    );
  },
  grammar: (plan, { entity, method }) =>
    method === "GET" ? queryGrammar(plan, entity.settings) : bodyGrammar(plan, entity.settings),
  answer: (plan, about) => ({ status: 200, schema: answerSchema(plan, about) }),

  async run({ input: request, entity, method, body, session, cache, basePath }, plan) {
    if (method === "GET") {
      const path = `${basePath}/api/${entity.project}/${entity.name}/lookup`;
      const items = await itemsOf(session, request, nextOf(path, body, request));
      return { status: 200, body: { ...items, search: request.search } };
    }
    const dependsOn = relatedDependencies(plan.dependsOn, request.select);
    const keep = cache.keeping({ entity, kind: "lookup", dependsOn });
    const rest = await keep(body, () => itemsOf(session, request));
    return { status: 200, body: {}, rest };
  },
});

/** A checked request. */
interface ItemsRequest {
  readonly select: Select;
  readonly tooFar: TooFar | null;
  readonly plan: LookupPlan;
  /** Rows in the answer. The statement reads one more to see whether there is a next page. */
  readonly size: number;
  /** The text that the labels contain; empty = none. */
  readonly search: string;
  /** Columns that items have in addition to id and text. */
  readonly extra: readonly Column[];
  /** How these become members; null if none is one of a related record. */
  readonly nesting: Nesting | null;
  readonly tag: unknown;
  readonly isSelect2: boolean;
  readonly isPaged: boolean;
  /** The number of the next page; null if none can be requested. */
  readonly next: number | null;
}

/** A search while a person types. Members that Select2 and cache-busters of browser libraries add have no effect. */
function queryGrammar(plan: LookupPlan, settings: RequestSettings): Grammar<ItemsRequest> {
  const parts = object({
    search: described(absentOr(lookupText("search"), ""), { type: "string", default: "" }),
    q: described(absentOr(lookupText("q"), ""), alias),
    term: described(absentOr(lookupText("term"), ""), alias),
    search_value: described(absentOr(lookupText("search_value"), ""), alias),
    search_mode: searchMode(plan.fullText),
    where: queryFilter(plan.named),
    ids: { ...idsOf(plan.id), schema: () => idsInQuery },
    ...pages(plan, settings),
    _: whatever,
  });
  return meaning(parts, (sent) => {
    const search = sent.search || sent.q || sent.term || sent.search_value;
    return requestOf({ ...sent, search, sort: [], extra: [], tag: null }, plan, settings);
  });
}

const idsInQuery: JsonSchema = { type: "string", description: "Ids with commas between them." };
const alias: JsonSchema = { type: "string", description: "Another name of search." };

/** A whole or filtered list. */
function bodyGrammar(plan: LookupPlan, settings: RequestSettings): Grammar<ItemsRequest> {
  const { named, id } = plan;
  const parts = object({
    search: optional(lookupText("search"), ""),
    search_value: described(optional(lookupText("search_value"), ""), alias),
    search_mode: searchMode(plan.fullText),
    where: treeOrPairs(named),
    select: furtherColumns(named),
    sort_columns: sortColumns(named),
    ids: idsOf(id),
    selected_tag: whatever,
    ...pages(plan, settings),
  });
  return meaning(parts, (sent) => {
    const search = sent.search || sent.search_value;
    const { sort_columns: sort, select: extra, selected_tag: tag = null } = sent;
    return requestOf({ ...sent, search, sort, extra, tag }, plan, settings);
  });
}

/** Numbers in a query are digits. */
const pages = (plan: LookupPlan, settings: RequestSettings) => ({
  page: pageNumber(plan, settings, { fromText: true }),
  limit: listLimit({ fromText: true }),
  /** Select2 sends it. */
  _type: whatever,
});

interface SentLookup {
  readonly search: string;
  readonly search_mode: boolean;
  readonly where: Condition | null;
  readonly ids: Condition | null;
  readonly sort: readonly Sort[];
  readonly extra: readonly Column[];
  readonly tag: unknown;
  readonly page: number | null;
  readonly limit: number | null;
  readonly _type: unknown;
}

function requestOf(
  sent: SentLookup,
  plan: LookupPlan,
  { offsetMax }: RequestSettings,
): ItemsRequest {
  const { search, extra, tag, limit } = sent;
  const page = sent.page ?? 1;
  const size = limit ?? limits.limitDefault;
  const fault = onlyPage(plan);
  if (fault && page > 1) throw fault;
  const words = sent.search_mode && plan.fullText ? fullTextSearch(plan.fullText, search) : null;
  const sort = orderOf(sent.sort, plan, sent.search_mode ? words : search);
  const match = sent.search_mode ? fullTextCondition(words) : labelMatch(search, plan, sort[0]);
  const isSelect2 = sent._type !== undefined;
  const nesting = nestingOf(extra);
  const { offset, tooFar } = beginningOf({ page, size }, { offsetMax, instead: narrower });
  return {
    select: {
      kind: "select",
      source: plan.source,
      columns: [...new Set([plan.id, plan.text ?? plan.id, ...(nesting?.columns ?? extra)])],
      where: allOf(plan.scope, sent.where, sent.ids, match),
      sort,
      limit: size + 1,
      offset,
      lock: false,
    },
    tooFar,
    plan,
    size,
    search,
    extra,
    nesting,
    tag,
    isSelect2,
    isPaged: isSelect2 || sent.page !== null,
    next: fault || page * size > offsetMax ? null : page + 1,
  };
}

const narrower = "narrow the list with search or where, or page through read with a cursor";

/** Path and query of the next page, if there is one. */
function nextOf(
  path: string,
  { _: _cacheBuster, ...query }: Record<string, unknown>,
  { isPaged, next }: ItemsRequest,
): string | null {
  return isPaged && next !== null ? `${path}?${queryOfPage(query, next)}` : null;
}

/** `next`: what a page that has more gives as its next one; absent: nothing. */
async function itemsOf(
  session: ReadQueries,
  request: ItemsRequest,
  next?: string | null,
): Promise<Record<string, unknown>> {
  const { select, tooFar, size, isSelect2, isPaged } = request;
  await mustHaveEnded(session, select, tooFar);
  const rows = await session.all(select);
  const data = rows.slice(0, size).map((row) => itemOf(row, request));
  const more = rows.length > size;
  const pagination = { more, ...(next !== undefined && { next: more ? next : null }) };
  return {
    count: data.length,
    data,
    ...(isSelect2 && { results: data }),
    ...(isPaged && { pagination }),
  };
}

/** Further columns of each item. All unknown names are listed at once. */
const furtherColumns = (columns: Columns): Grammar<readonly Column[]> => ({
  read(sent) {
    if (sent === undefined || sent === null) return [];
    const isList = Array.isArray(sent);
    const names: unknown[] = isList ? sent : [sent];
    // Without a list, even the name of a field is none.
    const unknown = names.filter(
      (name) => !isList || typeof name !== "string" || selectedBy(name, columns) === null,
    );
    if (unknown.length > 0) {
      const listed = unknown.map((name) => (typeof name === "string" ? name.slice(0, 100) : "?"));
      const fault = `${listed.join(", ")}${isList ? "" : "; select must be an array"}`;
      throw new AppError("invalidSelectFields", `Invalid fields in select: ${fault}`);
    }
    return names.flatMap((name) => selectedBy(name as string, columns)!);
  },
  schema: () => selectColumns(columns).schema(),
});

/**
 * The client's order, by default by label. It always ends with the id and the columns that make it total. The matches of
 * a search from the beginning of labels come in the order of the index that finds them, where there is one: then the
 * first ones are found as fast among millions.
 */
function orderOf(
  asked: readonly Sort[],
  plan: LookupPlan,
  search: string | TextSearch | null,
): Sort[] {
  const { text, id } = plan;
  const own: readonly Sort[] =
    asked.length > 0 || text === id || text === null ? asked : ownOrder(text, plan, search);
  const isEnded = own.some(({ column }) => column === id);
  return orderedBy(isEnded ? own : [...own, { column: id, direction: "asc" }], plan);
}

function ownOrder(
  label: Column,
  { matchesPrefix, ignoresAccents }: LookupPlan,
  search: string | TextSearch | null,
): readonly Sort[] {
  const byLabel: Sort = { column: label, direction: "asc" };
  if (typeof search !== "string") return [...byRank(search), byLabel];
  const isRange = search !== "" && matchesPrefix && !ignoresAccents;
  if (!isRange || label.hasFoldedIndex !== true) return [byLabel];
  return [{ column: inOrder(label, "foldedOf"), direction: "asc" }];
}

function itemOf(row: Row, { plan, extra, nesting, tag }: ItemsRequest): Row {
  const id = labelText(row[plan.id.name]);
  const item: Row = { id, text: labelText(plan.text && row[answeredAs(plan.text)]) };
  const further = nesting?.recordOf(row) ?? row;
  const names = nesting === null ? extra.map(({ name }) => name) : Object.keys(further);
  for (const name of names) if (!Object.hasOwn(item, name)) item[name] = further[name] ?? null;
  if (tag !== null && labelText(tag) === id) item["selected"] = "true";
  return item;
}

/** The label may be a JSON value, if it is only the second field. */
const labelText = (value: unknown): string => {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
};

/** `method` GET: the answer repeats the search. */
function answerSchema({ named }: LookupPlan, { entity: { settings }, method }: About): JsonSchema {
  const item = closedObject(
    {
      ...shownMembers(named, settings),
      ...relatedMembers(named, settings),
      id: { type: "string" },
      text: { type: "string" },
      selected: { const: "true" },
    },
    ["id", "text"],
  );
  const items: JsonSchema = { type: "array", items: item };
  const members: Record<string, JsonSchema> = {
    count: { type: "integer", minimum: 0 },
    data: items,
    ...(method === "GET" && { search: { type: "string" } }),
  };
  const page: Record<string, JsonSchema> = {
    more: { type: "boolean" },
    ...(method === "GET" && {
      next: orNull({ type: "string", description: "Path and query of the next page." }),
    }),
  };
  const forPages: Record<string, JsonSchema> = {
    results: items,
    pagination: closedObject(page, Object.keys(page)),
  };
  return closedObject({ ...members, ...forPages }, Object.keys(members));
}
