/**
 * The text of a full-text search -> terms. Only letters, digits and what belongs to them get into terms, so that no
 * operator of an engine can; a word with other characters within is a phrase of its parts.
 */
import type { Grammar } from "../grammar/grammar.ts";
import type { Columns } from "../values/types/column.ts";
import type { TextIndex, TextSearch, TextTerm } from "../values/types/text-index.ts";
import { invalidParameter } from "../values/errors.ts";
import { characterCount } from "../values/text.ts";
import type { Condition, Sort } from "./statement.ts";

/** Whether a request searches in the full-text index; null: there is none for the caller. */
export const searchMode = (index: TextIndex | null): Grammar<boolean> => ({
  read(sent) {
    if (sent !== "fulltext") {
      if (sent === undefined || sent === null || sent === "" || sent === "contains") return false;
      throw invalidParameter("search_mode must be contains or fulltext");
    }
    if (index === null)
      throw invalidParameter("search_mode fulltext is not available here; leave it out");
    return true;
  },
  schema: () => ({
    enum: ["contains", ...(index === null ? [] : ["fulltext"]), "", null],
    default: "contains",
  }),
});

/** The index, if the caller may see all of its columns: otherwise searches would tell what they hold. */
export const indexAmong = (index: TextIndex | null, columns: Columns): TextIndex | null =>
  index?.columns.every(({ name }) => columns.has(name)) ? index : null;

/** Words of one search. */
const wordsMax = 32;
/** Characters of a word: an index of MySQL holds no longer ones. */
const wordLengthMax = 80;

/** Null: the text has no word, so nothing is searched. Rejects with Invalid parameter texts with too many words. */
export function fullTextSearch(index: TextIndex, text: string): TextSearch | null {
  const terms = termsIn(text);
  const words = terms.flatMap((term) => term.words);
  if (words.length > wordsMax)
    throw invalidParameter(`A full-text search takes at most ${wordsMax} words`);
  if (words.some((word) => characterCount(word) > wordLengthMax))
    throw invalidParameter(`A word of a full-text search has at most ${wordLengthMax} characters`);
  return terms.length === 0 ? null : { index, terms };
}

export const fullTextCondition = (search: TextSearch | null): Condition | null =>
  search && { kind: "fulltext", search };

/** The best matches first. Empty if nothing is searched that could be ranked. */
export const byRank = (search: TextSearch | null): readonly Sort[] =>
  search?.terms.some(({ isNegated }) => !isNegated)
    ? [{ column: search.index.rank, direction: "desc", search }]
    : [];

/** Each is a phrase in quotes, or all characters up to a blank or quote. A quote without an end goes to the end. */
const termsIn = (text: string): TextTerm[] =>
  [...text.matchAll(piecePattern)].flatMap(({ groups }): TextTerm[] => {
    const { minus, phrase, word = "" } = groups!;
    const words = (phrase ?? word).match(partPattern)?.filter((part) => isWord.test(part)) ?? [];
    const isPrefix = prefixPattern.test(word.split(isWord).at(-1)!);
    return words.length === 0 ? [] : [{ words, isPrefix, isNegated: minus !== undefined }];
  });

const quotes = String.raw`"\u201C\u201D\u201E\u00AB\u00BB`;

const piecePattern = new RegExp(
  String.raw`(?<minus>(?<![^\s${quotes}])-+)?(?:[${quotes}](?<phrase>[^${quotes}]*)(?:[${quotes}]|$)|(?<word>[^\s${quotes}]+))`,
  "gu",
);

const partPattern = /[\p{L}\p{N}\p{M}_]+/gu;

/** Marks and underscores alone are no word. */
const isWord = /[\p{L}\p{N}]/u;

/** An asterisk right behind the last word, in what follows its last letter or digit. */
const prefixPattern = /^\*|[\p{M}_]\*/u;
