/** The grid's own searches: over all columns, in single ones, and those that the page keeps on. A row must match all of them. */
import type { Column } from "../values/column.ts";
import type { GridPlan } from "../plans/entity.ts";
import { invalidPayload } from "../values/errors.ts";
import { isObject } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import { allOf, type Condition } from "../query/statement.ts";
import { columnOf, mustHaveText } from "../query/where.ts";
import { readWholeNumber } from "../lists/page.ts";
import { listOf, membersOf, type Sent, searchText } from "./grid-parameters.ts";
import { conditionOfTerm, termsOf } from "./search-terms.ts";
import type { SentColumn } from "./sent-columns.ts";

/** Null when nothing is searched. Rejects with Invalid payload, or Invalid field for an unknown searchBy. */
export function parseSearch(
  body: Sent,
  plan: GridPlan,
  sent: readonly SentColumn[],
): Condition | null {
  const searchable = sent.flatMap(({ column, isSearchable }) =>
    column && isSearchable ? [column] : [],
  );
  const within = new Set(sent.length > 0 ? searchable : plan.columns.values());
  const everywhere = [...within].filter((column) => plan.searched.has(column.name));
  const by = body["searchBy"] ?? "all";
  if (typeof by !== "string") throw invalidPayload("searchBy must be a column name or all");
  // A column named "all" takes precedence over the keyword.
  const isEverywhere = by === "" || (by === "all" && !plan.columns.has(by));
  const searched = isEverywhere ? everywhere : [columnOf(by, plan.columns, "searchBy")];
  if (!isEverywhere) searched.forEach(mustHaveText);

  const read = (text: string, columns: readonly Column[]) =>
    termsOf(text, columns, plan.searchesWords);
  const terms = fixedTerms(body["search"]).flatMap((term) => read(term, everywhere));
  terms.push(
    ...groupsOf(body["search"], plan, sent).flatMap(({ term, columns }) => read(term, columns)),
  );
  for (const { column, isSearchable, search } of sent) {
    if (column === null || !isSearchable) continue;
    const value = isObject(search) ? typedText(search, "A column's search value") : "";
    for (const term of [value, ...fixedTerms(search)]) terms.push(...read(term, [column]));
  }
  const typed = read(globalSearch(body), searched);
  if (terms.length > limits.gridTermsMax || typed.length > limits.gridTermsMax) {
    throw invalidPayload(`A grid takes at most ${limits.gridTermsMax} searches at the same time`);
  }
  return allOf(...[...typed, ...terms].map(conditionOfTerm));
}

/** `search.value`, or where that is empty one of its other names. */
function globalSearch(body: Sent): string {
  const search = body["search"] ?? {};
  if (!isObject(search)) throw invalidPayload("search must be an object with a value");
  const texts = [
    typedText(search, "search.value"),
    searchText(body["searchValue"], "searchValue"),
    searchText(body["search_value"], "search_value"),
  ];
  return texts.find((text) => text !== "") ?? "";
}

/** The text of a search that a person types or a script sets; empty where it can run in the page alone. */
function typedText({ value }: Sent, subject: string): string {
  // What version 2 of the library sends of a RegExp in JSON.
  if (isObject(value) && Object.keys(value).length === 0) return "";
  const text = searchText(value, subject);
  return isCode(text) ? "" : text;
}

/** The terms of searches that the page itself keeps on. */
function fixedTerms(search: unknown): string[] {
  const fixed = isObject(search) ? search["fixed"] : undefined;
  return Array.isArray(fixed) ? fixed.flatMap((one: unknown) => scriptTerm(one)) : [];
}

/** The `term` of a search that a script set; none where it can run in the page alone. */
function scriptTerm(one: unknown): string[] {
  const term = isObject(one) ? one["term"] : undefined;
  if (typeof term !== "string" && typeof term !== "number") return [];
  const text = searchText(term, "A fixed search");
  return text === "" || isCode(text) ? [] : [text];
}

/**
 * Whether the text stands for a function or a RegExp of the page: the library sends the word for a function, and a RegExp as its text. Nothing
 * else in the request tells these from what a person types.
 */
const isCode = (text: string): boolean => text === "function" || /^\/.+\/[dgimsuvy]*$/s.test(text);

/**
 * `groups` and `groupsFixed` of DataTables 3: searches over some columns together, which are named by their places in `columns`. A group
 * of columns that are all no fields is passed over, as is the search of such a column.
 */
function groupsOf(
  search: unknown,
  plan: GridPlan,
  sent: readonly SentColumn[],
): { term: string; columns: readonly Column[] }[] {
  if (!isObject(search)) return [];
  const byPosition = sent.length > 0 ? null : [...plan.columns.values()];
  const groups = ["groups", "groupsFixed"].flatMap((name) => [
    ...membersOf(search[name], `search.${name}`).values(),
  ]);
  return groups.flatMap((group) => {
    if (!isObject(group)) throw invalidPayload("A group of searches must be an object");
    const places = listOf(group["columns"], "The columns of a group").map(placeOf);
    const known = byPosition
      ? places.map((at) => ({ column: byPosition[at] ?? null, isSearchable: true }))
      : places.map((at) => sent[at] ?? { column: null, isSearchable: false });
    if (known.every(({ column }) => column === null)) return [];
    const columns = known.flatMap(({ column, isSearchable }) =>
      column !== null && isSearchable ? [column] : [],
    );
    return scriptTerm(group).map((term) => ({ term, columns }));
  });
}

function placeOf(value: unknown): number {
  const place = readWholeNumber(value);
  if (place === null) throw invalidPayload("The columns of a group must be whole numbers");
  return place;
}
