/**
 * The query options of OData -> the members that read's own grammars take: `where`, `sort_columns`, `select` and
 * `expand`. What the service does not offer is refused with `notImplemented` and its name.
 */
import { closest } from "../values/closest.ts";
import { type AppError, invalidField, invalidParameter } from "../values/errors.ts";
import { limits } from "../values/limits.ts";
import { readWholeNumber } from "../values/types/numbers.ts";
import { notOffered, readOrder } from "./expressions.ts";
import { type Where, whereOf } from "./filter.ts";
import { odataLimits } from "./odata-limits.ts";
import { foundAt, namesAt, type ODataPlace } from "./places.ts";

/** The options by their names, as they were sent; those without a dollar sign are not OData's. */
export type SentOptions = Readonly<Record<string, unknown>>;

/** The parts of a list, or of a record, that a request asks for. */
export interface ReadOptions {
  readonly where: Where | null;
  readonly sort: readonly { readonly column: string; readonly direction: "ASC" | "DESC" }[];
  /** Names of own columns; null: all of them. */
  readonly select: readonly string[] | null;
  readonly expand: readonly ExpandOption[];
  readonly search: readonly SearchTerms[];
  /** Null: as many as there are. */
  readonly top: number | null;
  readonly skip: number;
  readonly isCounted: boolean;
  /** Where a list goes on; null: at its beginning. */
  readonly token: string | null;
}

/** Texts of which one must be found. */
export type SearchTerms = readonly string[];

/** One relation of `$expand`. */
export interface ExpandOption {
  /** The relation's name. */
  readonly name: string;
  readonly isMany: boolean;
  /** Only the number of records is shown. */
  readonly isCountAlone: boolean;
  readonly place: ODataPlace;
  readonly options: ReadOptions;
  /** As they were sent, for the address of the rest of a list. */
  readonly sent: SentOptions;
}

const listOptions = [
  "$filter",
  "$orderby",
  "$select",
  "$expand",
  "$search",
  "$top",
  "$skip",
  "$count",
  "$skiptoken",
  "$format",
] as const;
type OptionName = (typeof listOptions)[number];

const recordOptions: readonly OptionName[] = ["$select", "$expand", "$format"];
const countOptions: readonly OptionName[] = ["$filter", "$search", "$format"];
const manyOptions: readonly OptionName[] = [
  "$filter",
  "$orderby",
  "$select",
  "$expand",
  "$top",
  "$skip",
  "$count",
];
const oneOptions: readonly OptionName[] = ["$select", "$expand"];

/** What a request is for, and so the options that it takes. */
const takenBy = {
  list: listOptions,
  record: recordOptions,
  count: countOptions,
  "expanded list": manyOptions,
  "expanded record": oneOptions,
} as const;
export type Purpose = keyof typeof takenBy;

/** Rejects with `notImplemented`, Invalid parameter or Invalid field. */
export function readOptions(sent: SentOptions, place: ODataPlace, purpose: Purpose): ReadOptions {
  const taken: readonly string[] = takenBy[purpose];
  const faulty = Object.keys(sent).find((name) => name.startsWith("$") && !taken.includes(name));
  if (faulty !== undefined) throw notTaken(faulty, purpose);
  const text = (name: OptionName): string | null => textOf(sent, name);
  const filter = text("$filter");
  const order = text("$orderby");
  const select = text("$select");
  const expand = text("$expand");
  const search = text("$search");
  const counted = text("$count");
  if (counted !== null && counted !== "true" && counted !== "false")
    throw invalidParameter("$count must be true or false");
  return {
    where: filter === null ? null : whereOf(filter, place),
    sort: order === null ? [] : sortOf(order, place),
    select: select === null ? null : selectOf(select, place),
    expand: expand === null ? [] : expandOf(expand, place),
    search: search === null ? [] : searchOf(search),
    top: numberOf("$top", text("$top")),
    skip: numberOf("$skip", text("$skip")) ?? 0,
    isCounted: counted === "true",
    token: text("$skiptoken"),
  };
}

/** Options that are known but stand in the wrong place are the client's fault. */
function notTaken(name: string, purpose: Purpose): Error {
  const isKnown = (listOptions as readonly string[]).includes(name) && name !== "$search";
  if (isKnown && purpose !== "expanded list")
    return invalidParameter(`${name} cannot be used for ${purposes[purpose]}`);
  return notOffered(`The query option ${name.slice(0, 100)}`);
}

const purposes: Readonly<Record<Purpose, string>> = {
  list: "a list",
  record: "a single record",
  count: "a count",
  "expanded list": "related records",
  "expanded record": "a single related record",
};

function textOf(sent: SentOptions, name: string): string | null {
  const value = Object.hasOwn(sent, name) ? sent[name] : undefined;
  if (value === undefined || value === "") return null;
  if (typeof value !== "string") throw invalidParameter(`${name} must be a text`);
  if (!value.isWellFormed()) throw invalidParameter(`${name} must be valid Unicode`);
  return value.trim() === "" ? null : value;
}

function numberOf(name: string, text: string | null): number | null {
  if (text === null) return null;
  const number = /^\d+$/.test(text.trim()) ? readWholeNumber(text.trim()) : null;
  if (number === null) throw invalidParameter(`${name} must be a whole number from 0`);
  return number;
}

function sortOf(text: string, place: ODataPlace): ReadOptions["sort"] {
  return readOrder(text, "$orderby").map(({ path, isDescending }) => {
    const found = foundAt(path, place, "$orderby");
    if (found.kind === "relation")
      throw invalidParameter(`"${path.segments.join("/")}" in $orderby is no value`);
    return { column: found.key, direction: isDescending ? "DESC" : "ASC" };
  });
}

/** Names of relations have no effect: `$expand` shows them. */
function selectOf(text: string, place: ODataPlace): readonly string[] | null {
  const names = text.split(",").map((name) => name.trim());
  if (names.includes("*")) return null;
  const columns = names.flatMap((name) => {
    if (name.includes("/"))
      throw invalidParameter(
        `$select names own properties only; use $expand=relation($select=…) in place of "${name.slice(0, 100)}"`,
      );
    const found = foundAt({ segments: [name] }, place, "$select");
    return found.kind === "column" ? [found.key] : [];
  });
  return [...new Set(columns)];
}

/** `blue "wide shirt" OR green`: each term must be found, or one of those with OR between them. */
function searchOf(text: string): SearchTerms[] {
  const terms: string[][] = [];
  let isOr = false;
  const pattern = /\s*(?:"((?:[^"\\]|\\.)*)"|([^\s"()]+)|([()"]))/gy;
  for (let found; (found = pattern.exec(text)) !== null;) {
    const [, phrase, word, sign] = found;
    if (sign === '"') throw invalidParameter("A phrase in $search does not end");
    if (sign !== undefined || word === "NOT") throw notOffered(`${sign ?? word} in $search`);
    if (word === "AND") continue;
    if (word === "OR") {
      isOr = true;
      continue;
    }
    const term = phrase?.replace(/\\(.)/gs, "$1") ?? word!;
    if (isOr && terms.length > 0) terms.at(-1)!.push(term);
    else terms.push([term]);
    isOr = false;
  }
  if (terms.length > odataLimits.searchTermsMax)
    throw invalidParameter(`$search takes at most ${odataLimits.searchTermsMax} terms`);
  return terms;
}

function expandOf(text: string, place: ODataPlace): ExpandOption[] {
  const items = partsOf(text, ",", "$expand").flatMap((item) => {
    const [, all, levels] = /^\s*\*\s*(\(.*)?()$/s.exec(item) ?? [];
    if (levels === undefined) return [oneExpand(item, place)];
    if (all !== undefined) throw notOffered("Options of * in $expand");
    return namesAt(place).relations.map((name) => oneExpand(name, place));
  });
  const names = items.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw sentTwice(`"${twice}"`, "$expand");
  return items;
}

/** Which of two should count, the service does not guess. */
export const sentTwice = (name: string, where: string): AppError =>
  invalidParameter(`${name} stands in ${where} twice`);

function oneExpand(item: string, place: ODataPlace): ExpandOption {
  const match = /^([^\s(/]+)(\/[^\s(]+)?\s*(?:\((.*)\))?$/s.exec(item.trim());
  if (!match)
    throw invalidParameter(`$expand cannot be read from ${JSON.stringify(item.slice(0, 40))} on`);
  const [, name = "", behind, inner = ""] = match;
  if (behind !== undefined && behind !== "/$count")
    throw behind.startsWith("/$")
      ? notOffered(`${behind.slice(1, 100)} in $expand`)
      : invalidParameter(
          `"${name}${behind.slice(0, 100)}" in $expand: write ${name}($expand=…) for relations of related records`,
        );
  const found = foundAt({ segments: [name] }, place, "$expand");
  if (found.kind === "column")
    throw invalidField(
      `"${name.slice(0, 100)}" in $expand is no relation${nearRelation(name, place)}`,
    );
  const { relation, place: there, key } = found;
  const named = new Map<string, string>();
  for (const part of partsOf(inner, ";", "$expand")) {
    const at = part.indexOf("=");
    if (at < 0)
      throw invalidParameter(`$expand cannot be read from ${JSON.stringify(part.slice(0, 40))} on`);
    const option = part.slice(0, at).trim();
    if (named.has(option)) throw sentTwice(option.slice(0, 100), `the options of "${name}"`);
    named.set(option, part.slice(at + 1));
  }
  const sent = Object.fromEntries(named);
  const isCountAlone = behind !== undefined;
  if (isCountAlone && !relation.isMany)
    throw invalidParameter(`"${name}" in $expand leads to one record, which is not counted`);
  const purpose = isCountAlone ? "count" : relation.isMany ? "expanded list" : "expanded record";
  const unmarked = Object.keys(sent).find((option) => !option.startsWith("$"));
  if (unmarked !== undefined) throw notOffered(`The query option ${unmarked.slice(0, 100)}`);
  const options = readOptions(sent, there, purpose);
  if (options.search.length > 0) throw notOffered("The query option $search");
  const reached = options.skip + (options.top ?? 0);
  if (reached > limits.expandLimitMax)
    throw invalidParameter(
      `$skip and $top of "${name}" reach beyond its first ${limits.expandLimitMax} records`,
    );
  return { name: key, isMany: relation.isMany, isCountAlone, place: there, options, sent };
}

function nearRelation(name: string, place: ODataPlace): string {
  const near = closest(name, namesAt(place).relations);
  return near === null ? "" : `; did you mean "${near}"?`;
}

/** The parts between signs that stand in no parentheses and in no text. */
function partsOf(text: string, sign: string, option: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let begin = 0;
  let isText = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text[at];
    if (unit === "'") isText = !isText;
    else if (isText) continue;
    else if (unit === "(") {
      if (++depth > limits.jsonDepthMax) throw invalidParameter(`${option} is nested too deeply`);
    } else if (unit === ")") depth--;
    else if (unit === sign && depth === 0) {
      parts.push(text.slice(begin, at));
      begin = at + 1;
    }
    if (depth < 0) break;
  }
  if (depth !== 0 || isText)
    throw invalidParameter(`${option} has parentheses or quotation marks that do not match`);
  const last = text.slice(begin);
  return [...parts, last].filter((part) => part.trim() !== "");
}
