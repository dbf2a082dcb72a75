/**
 * One text that a person or the page searches for -> Conditions over columns, which are joined by AND. With
 * `datatables.search` "words" it is read as the library reads it in the browser: words in any order, quotes around a
 * phrase, and `!` before a word that must not occur.
 */
import type { Column } from "../values/types/column.ts";
import type { Condition } from "../query/statement.ts";
import { textDiffers, textMatches } from "./text-match.ts";

/** What is searched for in some of the columns. */
export interface SearchTerm {
  readonly columns: readonly Column[];
  readonly text: string;
  /** None of the columns may contain it. */
  readonly isNegated: boolean;
}

/** `isWords` false: the whole text is one term. None for an empty text. */
export function termsOf(text: string, columns: readonly Column[], isWords: boolean): SearchTerm[] {
  if (text === "") return [];
  if (!isWords) return [{ columns, text, isNegated: false }];
  return (text.match(wordPattern) ?? []).flatMap((part) => {
    const isNegated = part.startsWith("!");
    const word = unquoted(isNegated ? part.slice(1) : part);
    // A single exclamation mark excludes nothing yet, and the library ignores one that is followed by a single letter.
    const isTerm = word.length > (isNegated ? 1 : 0);
    return isTerm ? [{ columns, text: word, isNegated }] : [];
  });
}

export function conditionOfTerm({ columns, text, isNegated }: SearchTerm): Condition {
  const matches = isNegated ? textDiffers : textMatches;
  const members = columns.map((column) => matches(column, "contains", text));
  return { kind: isNegated ? "and" : "or", members };
}

/** The library's own expression: a phrase in straight or curved quotes, or a word between blanks. */
const wordPattern = /!?["\u201C][^"\u201D]+["\u201D]|[^ ]+/g;

function unquoted(word: string): string {
  const [, phrase] = /^["\u201C](.*)["\u201D]$/.exec(word) ?? [];
  return (phrase ?? word).replaceAll('"', "");
}
