/**
 * The grid's own searches: over all columns, in single columns, and the fixed ones of the page. A row must match all of
 * them.
 */
import { type Grammar, type Meanings, optional, value } from "../grammar/grammar.ts";
import type { Column, Columns } from "../values/types/column.ts";
import type { GridPlan } from "../plans/grid-plan.ts";
import type { TextIndex, TextSearch } from "../values/types/text-index.ts";
import { invalidPayload } from "../values/errors.ts";
import { isObject } from "../values/json.ts";
import { orNull } from "../values/json-schema.ts";
import { limits } from "../values/limits.ts";
import { allOf, type Condition } from "../query/statement.ts";
import { patternSchema } from "../query/condition-schema.ts";
import { fullTextCondition, fullTextSearch, searchMode } from "../query/full-text.ts";
import { searchableNames, searchText } from "../query/list-search.ts";
import { columnOf, mustHaveText } from "../query/comparisons.ts";
import { readWholeNumber } from "../values/types/numbers.ts";
import {
  asPayload,
  inPayload,
  listOf,
  membersOf,
  optionalText,
  type Sent,
} from "./grid-parameters.ts";
import { conditionOfTerm, termsOf } from "./search-terms.ts";
import type { SentColumn } from "./sent-columns.ts";

/** What a request searches for. `searchBy` null: in the columns that it sends as searchable; it sends none: in all. */
export const searchMembers = ({ named, fullText }: GridPlan) => ({
  search_mode: inPayload(searchMode(fullText)),
  searchBy: searchBy(named),
  search: optional(
    value(
      isObject,
      () => invalidPayload("search must be an object with a value"),
      () => ({
        type: "object",
        properties: { value: orNull(patternSchema) },
        additionalProperties: true,
      }),
    ),
    {},
  ),
  "search.value": inPayload(searchText("search.value")),
  searchValue: inPayload(searchText("searchValue")),
  search_value: inPayload(searchText("search_value")),
});

type Searches = Meanings<ReturnType<typeof searchMembers>> & {
  readonly columns: readonly SentColumn[];
};

const searchBy = (columns: Columns): Grammar<Column | "all" | null> => ({
  read(sent) {
    const by = sent ?? "";
    if (typeof by !== "string") throw invalidPayload("searchBy must be a column name or all");
    if (by === "") return null;
    // A column named "all" takes precedence over the keyword.
    if (by === "all" && !columns.has(by)) return by;
    const column = columnOf(by, columns, "searchBy");
    mustHaveText(column);
    return column;
  },
  schema: () => ({ enum: ["", ...new Set(["all", ...searchableNames(columns)]), null] }),
});

/** What is searched for: null if nothing is. `words`: what is looked up in the full-text index. */
export interface GridSearch {
  readonly filter: Condition | null;
  readonly words: TextSearch | null;
}

/** Rejects with Invalid payload, or with Invalid field for an unknown searched column. */
export function gridSearch(sent: Searches, plan: GridPlan): GridSearch {
  const { columns: sentColumns } = sent;
  const search: Sent = sent.search;
  const searchable = sentColumns.flatMap(({ column, isSearchable }) =>
    column && isSearchable ? [column] : [],
  );
  const all = [...plan.columns.values()];
  const searchedAmong = (columns: readonly Column[]): readonly Column[] =>
    [...new Set(columns)].filter(({ name }) => plan.searched?.has(name) ?? true);
  const everywhere = searchedAmong(sentColumns.length > 0 ? searchable : all);

  const read = (text: string, columns: readonly Column[]) =>
    termsOf(text, columns, plan.searchesWords);
  const terms = fixedTerms(search).flatMap((term) => read(term, everywhere));
  terms.push(
    ...groupsOf(search, plan, sentColumns).flatMap(({ term, columns }) => read(term, columns)),
  );
  for (const one of sentColumns) {
    if ((one.column === null && one.name === null) || !one.isSearchable) continue;
    const own = isObject(one.search)
      ? typedText(one.search["value"], "A column's search value")
      : "";
    const column = one.column ?? (own === "" ? null : columnOf(one.name!, plan.named, "columns"));
    if (column === null) continue;
    for (const term of [own, ...fixedTerms(one.search)]) terms.push(...read(term, [column]));
  }
  // `search.value`, or if that is empty one of its other names.
  const text =
    typedText(search["value"], "search.value") ||
    sent["search.value"] ||
    sent.searchValue ||
    sent.search_value;
  const words =
    sent.search_mode && plan.fullText ? wordsIn(text, sent.searchBy, plan.fullText) : null;
  const { searchBy: by } = sent;
  const searched = by === "all" ? searchedAmong(all) : by === null ? everywhere : [by];
  const typed = sent.search_mode ? [] : read(text, searched);
  if (terms.length > limits.gridTermsMax || typed.length > limits.gridTermsMax) {
    throw invalidPayload(`A grid takes at most ${limits.gridTermsMax} searches at the same time`);
  }
  const filter = allOf(fullTextCondition(words), ...[...typed, ...terms].map(conditionOfTerm));
  return { filter, words };
}

function wordsIn(text: string, by: Searches["searchBy"], index: TextIndex): TextSearch | null {
  if (by !== null && by !== "all")
    throw invalidPayload("searchBy and search_mode fulltext cannot be combined");
  return asPayload(() => fullTextSearch(index, text));
}

/**
 * The text of a search that a person types. The library sends some text for a function, too, which nothing tells from
 * typed text.
 */
function typedText(value: unknown, subject: string): string {
  // What version 2 of the library sends for a RegExp in JSON.
  if (isObject(value) && Object.keys(value).length === 0) return "";
  return optionalText(value, subject);
}

/** The terms of the page's fixed searches. */
function fixedTerms(search: unknown): string[] {
  const fixed = isObject(search) ? search["fixed"] : undefined;
  return Array.isArray(fixed) ? fixed.flatMap((one: unknown) => scriptTerm(one)) : [];
}

/** The `term` of a fixed search, which scripts set; empty if only the page can run it. */
function scriptTerm(one: unknown): string[] {
  const term = isObject(one) ? one["term"] : undefined;
  if (typeof term !== "string" && typeof term !== "number") return [];
  const text = optionalText(term, "A fixed search");
  return text === "" || isCode(text) ? [] : [text];
}

/**
 * Whether the text stands for a function or a RegExp of the page: the library sends the word "function" for a function,
 * and a RegExp as its text. Nothing else in the request distinguishes these from typed text.
 */
const isCode = (text: string): boolean => text === "function" || /^\/.+\/[dgimsuvy]*$/s.test(text);

/**
 * `groups` and `groupsFixed` of DataTables 3: searches over several columns together, which are named by their places
 * in `columns`. A group without any field is ignored, as is the search of a column that is not a field.
 */
function groupsOf(
  search: Sent,
  plan: GridPlan,
  sent: readonly SentColumn[],
): { term: string; columns: readonly Column[] }[] {
  const byPosition = sent.length > 0 ? null : [...plan.columns.values()];
  const groups = ["groups", "groupsFixed"].flatMap((name) =>
    [...membersOf(search[name], `search.${name}`).values()].map((group) => ({ name, group })),
  );
  return groups.flatMap(({ name, group }) => {
    if (!isObject(group)) throw invalidPayload("A group of searches must be an object");
    const places = listOf(group["columns"], "The columns of a group").map(placeOf);
    const known = byPosition
      ? places.map((at) => ({ column: byPosition[at] ?? null, isSearchable: true }))
      : places.map((at) => sent[at] ?? { column: null, isSearchable: false });
    if (known.every(({ column }) => column === null)) return [];
    const columns = known.flatMap(({ column, isSearchable }) =>
      column !== null && isSearchable ? [column] : [],
    );
    const terms = name === "groups" ? [typedText(group["term"], "A search")] : scriptTerm(group);
    return terms.map((term) => ({ term, columns }));
  });
}

function placeOf(value: unknown): number {
  const place = readWholeNumber(value);
  if (place === null) throw invalidPayload("The columns of a group must be whole numbers");
  return place;
}
