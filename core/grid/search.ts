/** The grid's own searches: over all columns, in single ones, and those that the page keeps on. A row must match all of them. */
import type { Column } from "../values/column.ts";
import type { GridPlan } from "../plans/entity.ts";
import { invalidPayload } from "../values/errors.ts";
import { isObject } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import { allOf, type Condition } from "../query/statement.ts";
import { columnOf, mustHaveText } from "../query/where.ts";
import { type Sent, searchText } from "./grid-parameters.ts";
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
  // A column that is really called "all" can still be searched: by name it wins over the word.
  const isEverywhere = by === "" || (by === "all" && !plan.columns.has(by));
  const searched = isEverywhere ? everywhere : [columnOf(by, plan.columns, "searchBy")];
  if (!isEverywhere) searched.forEach(mustHaveText);

  const terms = fixedTerms(body["search"]).map((term) => anyOf(everywhere, term));
  for (const { column, isSearchable, search } of sent) {
    if (column === null || !isSearchable) continue;
    const value = isObject(search) ? searchText(search["value"], "A column's search value") : "";
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
function globalSearch(body: Sent): string {
  const search = body["search"] ?? {};
  if (!isObject(search)) throw invalidPayload("search must be an object with a value");
  const texts = [
    searchText(search["value"], "search.value"),
    searchText(body["searchValue"], "searchValue"),
    searchText(body["search_value"], "search_value"),
  ];
  return texts.find((text) => text !== "") ?? "";
}

/** Searches that the page itself keeps on; one that is a function can run in the page only, and comes as that word. */
function fixedTerms(search: unknown): string[] {
  const fixed = isObject(search) ? search["fixed"] : undefined;
  if (!Array.isArray(fixed)) return [];
  return fixed.flatMap((one: unknown) => {
    const term = isObject(one) ? one["term"] : undefined;
    if (typeof term !== "string" && typeof term !== "number") return [];
    return term === "" || term === "function" ? [] : [searchText(term, "A fixed search")];
  });
}

const anyOf = (columns: readonly Column[], text: string): Condition => ({
  kind: "or",
  members: columns.map((column) => ({ kind: "contains", column, text })),
});
