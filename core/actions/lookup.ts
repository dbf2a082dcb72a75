/**
 * lookup: `{id, text}` pairs for drop-downs. GET searches while a user types (mode `dynamic`), POST returns a whole or
 * filtered list (mode `static`). Select2 can call GET directly, because the answer has its members `results` and
 * `pagination`.
 */
import { type Call, defineAction, type Method } from "../calls/action.ts";
import type { Column, Columns } from "../values/column.ts";
import type { LookupPlan } from "../plans/entity.ts";
import { AppError, invalidParameter } from "../values/errors.ts";
import { limits } from "../values/limits.ts";
import type { ReadQueries } from "../callers/session.ts";
import type { Row } from "../plans/ports.ts";
import { onlyPage, orderedBy } from "../lists/order.ts";
import { offsetOf, readWholeNumber } from "../lists/page.ts";
import { parseSort } from "../query/sort.ts";
import { allOf, type Condition, type Select, type Sort } from "../query/statement.ts";
import { bodyFilter, labelMatch, lookupText, queryFilter } from "../lists/lookup-filter.ts";
import { columnOf, comparand } from "../query/where.ts";
import { lookupAnswerSchema, lookupBodySchema, lookupQuerySchema } from "../lists/lookup-schema.ts";

type Body = Readonly<Record<string, unknown>>;

export const lookup = defineAction<LookupPlan>({
  name: "lookup",
  summary: "Lists ids with their labels, for drop-downs.",
  mode: "reads",
  methods: ["GET", "POST"],
  requires: ["source"],
  headers: ["X-Request-Mode"],
  errors: ["invalidParameter", "invalidField", "invalidSelectFields"],
  takesOptions: false,
  takesEmptyBody: true,
  needs: (entity) => entity.lookup,
  input: (plan, { entity, method }) =>
    method === "GET" ? lookupQuerySchema(plan, entity) : lookupBodySchema(plan, entity),
  answer: (plan, about) => ({ status: 200, schema: lookupAnswerSchema(plan, about) }),

  async run(call, plan) {
    checkMode(call);
    const { entity, method, body, session, cache } = call;
    const { offsetMax } = entity.settings;
    if (method === "GET") {
      const search = searchOf(body);
      const items = await itemsOf(session, parseItems(body, plan, { method, search, offsetMax }));
      return { status: 200, body: { ...items, search } };
    }
    const search = lookupText(body["search"] ?? "", "search");
    const request = parseItems(body, plan, { method, search, offsetMax });
    const keep = cache.keeping({ entity, kind: "lookup", dependsOn: plan.dependsOn });
    const rest = await keep(body, () => itemsOf(session, request));
    return { status: 200, body: {}, rest };
  },
});

/** A checked request. */
interface ItemsRequest {
  readonly select: Select;
  readonly plan: LookupPlan;
  /** Rows in the answer. The statement reads one more to see whether there is a next page. */
  readonly size: number;
  /** Columns that items have in addition to id and text. */
  readonly extra: readonly Column[];
  readonly tag: unknown;
  readonly isSelect2: boolean;
  readonly isPaged: boolean;
}

/** GET and POST can filter; only POST can sort and select. */
function parseItems(
  body: Body,
  plan: LookupPlan,
  { method, search, offsetMax }: { method: Method; search: string; offsetMax: number },
): ItemsRequest {
  const isPost = method === "POST";
  const extra = isPost ? extraColumns(body["select"], plan.columns) : [];
  const { page, size } = pageOf(body);
  const fault = page > 1 ? onlyPage(plan) : null;
  if (fault) throw fault;
  const isSelect2 = Object.hasOwn(body, "_type");
  return {
    select: {
      kind: "select",
      source: plan.source,
      columns: [...new Set([plan.id, plan.text, ...extra])],
      where: allOf(
        plan.scope,
        (isPost ? bodyFilter : queryFilter)(body["where"], plan.columns),
        idsOf(body["ids"], plan.id),
        labelMatch(search, plan),
      ),
      sort: isPost ? orderOf(body["sort_columns"], plan) : orderOf(null, plan),
      limit: size + 1,
      offset: offsetOf({ page, size }, { offsetMax, instead: narrower }),
      lock: false,
    },
    plan,
    size,
    extra,
    tag: isPost ? body["selected_tag"] : undefined,
    isSelect2,
    isPaged: isSelect2 || Object.hasOwn(body, "page"),
  };
}

const narrower = "narrow the list with search or where, or page through read with a cursor";

async function itemsOf(
  session: ReadQueries,
  request: ItemsRequest,
): Promise<Record<string, unknown>> {
  const { select, size, isSelect2, isPaged } = request;
  const rows = await session.all(select);
  const data = rows.slice(0, size).map((row) => itemOf(row, request));
  return {
    count: data.length,
    data,
    ...(isSelect2 && { results: data }),
    ...(isPaged && { pagination: { more: rows.length > size } }),
  };
}

function checkMode({ method, requestMode }: Call): void {
  const wanted = method === "GET" ? "dynamic" : "static";
  if (requestMode === wanted) return;
  throw new AppError(
    "invalidRequestMode",
    `${method} lookup needs the header X-Request-Mode: ${wanted}`,
  );
}

/** `search`, or the names that Select2 uses; the first one present counts. */
function searchOf(query: Body): string {
  const [search = ""] = ["search", "q", "term"]
    .filter((name) => Object.hasOwn(query, name))
    .map((name) => lookupText(query[name], name));
  return search;
}

/**
 * Condition for the rows of given ids (`ids=a,b`, or an array in a body), for a page that needs the labels of values it
 * already has.
 */
function idsOf(ids: unknown, id: Column): Condition | null {
  if (ids === undefined || ids === null) return null;
  const wanted = typeof ids === "string" ? ids.split(",").filter((part) => part !== "") : ids;
  if (!Array.isArray(wanted)) throw invalidParameter("ids must be a list of ids");
  if (wanted.length > limits.inValuesMax) {
    throw invalidParameter(`ids takes at most ${limits.inValuesMax} ids`);
  }
  const values = wanted.map((value: unknown) => comparand(id, value));
  return { kind: "in", column: id, values, negated: false };
}

/** Further columns of each item. All unknown names are listed at once. */
function extraColumns(select: unknown, columns: Columns): Column[] {
  if (select === undefined || select === null) return [];
  const names: unknown[] = Array.isArray(select) ? select : [select];
  const unknown = names.filter((name) => typeof name !== "string" || !columns.has(name));
  if (!Array.isArray(select) || unknown.length > 0) {
    const listed = unknown.map((name) => (typeof name === "string" ? name.slice(0, 100) : "?"));
    throw new AppError("invalidSelectFields", `Invalid fields in select: ${listed.join(", ")}`);
  }
  return names.map((name) => columnOf(name as string, columns, "select"));
}

/** The client's order, by default by label. It always ends with the id and the columns that make it total. */
function orderOf(sortColumns: unknown, plan: LookupPlan): Sort[] {
  const { text, id } = plan;
  const asked = parseSort(sortColumns, plan.columns);
  const own: readonly Sort[] =
    asked.length > 0 || text === id ? asked : [{ column: text, direction: "asc" }];
  const isEnded = own.some(({ column }) => column === id);
  return orderedBy(isEnded ? own : [...own, { column: id, direction: "asc" }], plan);
}

/** Numbers in a query string are strings of digits. */
function pageOf(body: Body): { page: number; size: number } {
  return {
    page: wholeNumber(body, "page", { max: Number.MAX_SAFE_INTEGER, otherwise: 1 }),
    size: wholeNumber(body, "limit", { max: limits.limitMax, otherwise: limits.limitDefault }),
  };
}

function wholeNumber(
  body: Body,
  name: string,
  { max, otherwise }: { max: number; otherwise: number },
): number {
  const number = readWholeNumber(Object.hasOwn(body, name) ? body[name] : otherwise);
  if (number !== null && number >= 1 && number <= max) return number;
  throw invalidParameter(`${name} must be a whole number from 1 to ${max}`);
}

function itemOf(row: Row, { plan, extra, tag }: ItemsRequest): Row {
  const id = labelText(row[plan.id.name]);
  const item: Row = { id, text: labelText(row[plan.text.name]) };
  for (const { name } of extra) if (!Object.hasOwn(item, name)) item[name] = row[name] ?? null;
  if (tag !== undefined && tag !== null && labelText(tag) === id) item["selected"] = "true";
  return item;
}

const labelText = (value: unknown): string =>
  value === null || value === undefined ? "" : String(value);
