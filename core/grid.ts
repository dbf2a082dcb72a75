/**
 * The request of the DataTables grid -> what its page and its counts need. It comes as JSON or as a form, where every number
 * and truth value is a text. What the library says of its own columns (`columns`, `order`, `fixed`) may name what is no field
 * of ours and is then passed over; what a caller adds (`where`, `sort_columns`, `searchBy`) must name a column.
 */
import type { Column, Columns } from "./column.ts";
import type { GridPlan } from "./entity.ts";
import { AppError, invalidPayload } from "./errors.ts";
import { isObject } from "./json.ts";
import { limits } from "./limits.ts";
import { readWholeNumber } from "./page.ts";
import { hasOrder, parseSort } from "./sort.ts";
import { allOf, type Condition, type Sort } from "./statement.ts";
import { columnOf, parseWhere, patternText } from "./where.ts";

export interface GridRequest {
  /** 0 when the request has none. */
  readonly draw: number;
  /** Rows before the page. */
  readonly start: number;
  /** Rows of the page. */
  readonly length: number;
  /** Search and `where`; null when nothing filters. */
  readonly filter: Condition | null;
  readonly sort: readonly Sort[];
}

type Body = Readonly<Record<string, unknown>>;

/** Rejects with Invalid payload, with Invalid field (unknown column), or, for a value in `where`, with Invalid parameter. */
export function parseGrid(body: Body, plan: GridPlan): GridRequest {
  const sent = sentColumns(body["columns"], plan.columns);
  return {
    draw: parseDraw(body),
    start: wholeNumber(body, "start", { min: 0, max: Number.MAX_SAFE_INTEGER, otherwise: 0 }),
    length: wholeNumber(body, "length", {
      min: 1,
      max: limits.gridLengthMax,
      otherwise: limits.gridLengthDefault,
    }),
    filter: allOf(parseGridWhere(body["where"], plan.columns), parseSearch(body, plan, sent)),
    sort: sortOf(body, plan, sent),
  };
}

/** Rejects what is not a whole number: the page compares it with its own counter. */
export function parseDraw(body: Body): number {
  const { MIN_SAFE_INTEGER: min, MAX_SAFE_INTEGER: max } = Number;
  return wholeNumber(body, "draw", { min, max, otherwise: 0 });
}

/** One of the request's `columns`. */
interface SentColumn {
  /** Null where the grid shows something that is no field of ours. */
  readonly column: Column | null;
  readonly isSearchable: boolean;
  readonly isOrderable: boolean;
  readonly search: unknown;
}

function sentColumns(value: unknown, columns: Columns): SentColumn[] {
  const sent = listOf(value, "columns");
  if (sent.length > limits.gridColumnsMax) {
    throw invalidPayload(`columns takes at most ${limits.gridColumnsMax} columns`);
  }
  const byPosition = [...columns.values()];
  return sent.map((one, position) => {
    if (!isObject(one)) throw invalidPayload("columns must be an array of objects");
    const data = one["data"];
    const named = typeof data === "string" ? columns.get(data) : undefined;
    return {
      column: (data === undefined ? byPosition[position] : named) ?? null,
      isSearchable: !isFalse(one["searchable"]),
      isOrderable: !isFalse(one["orderable"]),
      search: one["search"],
    };
  });
}

/** The global search, the search of each column and the page's fixed searches, all of which a row must match. */
function parseSearch(body: Body, plan: GridPlan, sent: readonly SentColumn[]): Condition | null {
  const searchable = sent.flatMap(({ column, isSearchable }) =>
    column && isSearchable ? [column] : [],
  );
  const within = new Set(sent.length > 0 ? searchable : plan.columns.values());
  const everywhere = [...within].filter((column) => plan.searched.has(column.name));
  const by = body["searchBy"] ?? "all";
  if (typeof by !== "string") throw invalidPayload("searchBy must be a column name or all");
  // A column that is really called "all" can still be searched: by name it wins over the word.
  const isEverywhere = by === "" || (by === "all" && !plan.columns.has(by));
  const searched = isEverywhere ? everywhere : [columnOf(by, plan.columns, "searchBy")];

  const terms = fixedTerms(body["search"]).map((term) => anyOf(everywhere, term));
  for (const { column, isSearchable, search } of sent) {
    if (column === null || !isSearchable) continue;
    const value = isObject(search) ? textOf(search["value"], "A column's search value") : "";
    for (const term of [value, ...fixedTerms(search)]) {
      if (term !== "") terms.push(anyOf([column], term));
    }
  }
  if (terms.length > limits.gridTermsMax) {
    throw invalidPayload(`A grid takes at most ${limits.gridTermsMax} searches at the same time`);
  }
  const text = globalSearch(body);
  return allOf(text === "" ? null : anyOf(searched, text), ...terms);
}

/** `search.value`, or where that is empty one of its other names. */
function globalSearch(body: Body): string {
  const search = body["search"] ?? {};
  if (!isObject(search)) throw invalidPayload("search must be an object with a value");
  const texts = [
    textOf(search["value"], "search.value"),
    textOf(body["searchValue"], "searchValue"),
    textOf(body["search_value"], "search_value"),
  ];
  return texts.find((text) => text !== "") ?? "";
}

function textOf(value: unknown, subject: string): string {
  return value === undefined || value === null ? "" : asPayload(() => patternText(value, subject));
}

/** Searches that the page itself keeps on; one that is a function can run in the page only, and comes as that word. */
function fixedTerms(search: unknown): string[] {
  const fixed = isObject(search) ? search["fixed"] : undefined;
  if (!Array.isArray(fixed)) return [];
  return fixed.flatMap((one: unknown) => {
    const term = isObject(one) ? one["term"] : undefined;
    if (typeof term !== "string" && typeof term !== "number") return [];
    return term === "" || term === "function" ? [] : [textOf(term, "A fixed search")];
  });
}

const anyOf = (columns: readonly Column[], text: string): Condition => ({
  kind: "or",
  members: columns.map((column) => ({ kind: "contains", column, text })),
});

/** `sort_columns`, then the library's `order`, then the key; the first mention of a column decides. */
function sortOf(body: Body, plan: GridPlan, sent: readonly SentColumn[]): Sort[] {
  const first = asPayload(() =>
    parseSort(listOf(body["sort_columns"], "sort_columns"), plan.columns, null),
  );
  const sort = new Map<Column, Sort>();
  const last: readonly Sort[] = plan.key ? [{ column: plan.key, direction: "asc" }] : [];
  for (const term of [...first, ...orderOf(body["order"], plan, sent), ...last]) {
    if (!sort.has(term.column)) sort.set(term.column, term);
  }
  return [...sort.values()];
}

/** `[{column: index, dir}]`; the index is one of `columns` where these were sent, else a position in the source. */
function orderOf(value: unknown, plan: GridPlan, sent: readonly SentColumn[]): Sort[] {
  const byPosition = sent.length > 0 ? [] : [...plan.columns.values()];
  return listOf(value, "order").flatMap((one): Sort[] => {
    if (!isObject(one)) throw invalidPayload("order must be an array of {column, dir}");
    const index = wholeNumber(one, "column", { min: 0, max: Number.MAX_SAFE_INTEGER });
    const dir = one["dir"] ?? "asc";
    if (typeof dir !== "string" || !/^(asc|desc)?$/i.test(dir)) {
      throw invalidPayload("The dir of order must be asc or desc");
    }
    const named = sent[index]?.isOrderable ? sent[index].column : null;
    const column = byPosition[index] ?? named;
    // The library clears an order by an empty direction.
    if (!column || dir === "" || !hasOrder(column)) return [];
    return [{ column, direction: dir.toLowerCase() as Sort["direction"] }];
  });
}

/** read's filter. A form cannot say false, nor send a list without members. */
function parseGridWhere(where: unknown, columns: Columns): Condition | null {
  if (where === "") return null;
  return parseWhere(isObject(where) ? spelledOut(where) : where, columns);
}

function spelledOut(group: Body): Body {
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

/** Whatever is wrong with a parameter of the grid is a fault of its payload. */
function asPayload<Value>(parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    if (error instanceof AppError && error.kind === "invalidParameter") {
      throw invalidPayload(error.message);
    }
    throw error;
  }
}

/** A number, or a text of digits. Rejects when it is out of range, or missing where there is no default. */
function wholeNumber(
  body: Body,
  name: string,
  { min, max, otherwise }: { min: number; max: number; otherwise?: number },
): number {
  const number = readWholeNumber(Object.hasOwn(body, name) ? body[name] : otherwise);
  if (number !== null && number >= min && number <= max) return number;
  const range =
    min < 0 ? "" : max > limits.gridLengthMax ? ` from ${min}` : ` from ${min} to ${max}`;
  throw invalidPayload(`${name} must be a whole number${range}`);
}

/** Absent, null or empty, as forms say it: no members. */
function listOf(value: unknown, name: string): unknown[] {
  if (value === undefined || value === null || value === "") return [];
  if (!Array.isArray(value)) throw invalidPayload(`${name} must be an array`);
  return value;
}

const isFalse = (value: unknown): boolean => value === false || value === "false";
