/**
 * Whether the text of a field contains, starts with, ends with or equals another text, ignoring case -> a Condition.
 * Booleans have no text: they are found by their words (`true`, `false`, `1`, `0`), as in a grid that the browser
 * fills, but only from the beginning of a word, because a single "e" would find them all.
 */
import type { Column } from "../values/types/column.ts";
import type { Condition } from "../query/statement.ts";
import type { Scalar } from "../values/scalar.ts";
import { columnTypes } from "../values/types/column-types.ts";

export type TextTest = "contains" | "starts" | "ends" | "same";

/** False for fields without a text, and for nulls. */
export function textMatches(column: Column, test: TextTest, text: string): Condition {
  const { wordsOf } = columnTypes[column.type];
  if (wordsOf !== null) return isAmong(column, valuesFound(wordsOf, test, text));
  if (test === "contains") return { kind: "contains", column, text };
  return matches(column, patternOf(test, text), false);
}

/** The opposite, true for nulls and for fields without a text. */
export function textDiffers(column: Column, test: TextTest, text: string): Condition {
  const { wordsOf } = columnTypes[column.type];
  if (wordsOf === null) return matches(column, patternOf(test, text), true);
  const found = new Set(valuesFound(wordsOf, test, text));
  const others = [...wordsOf.keys()].filter((value) => !found.has(value));
  return orMissing(column, isAmong(column, others));
}

/** Whether the shown text of the field matches this LIKE pattern, ignoring case. */
export function matches(column: Column, pattern: string, isNegated: boolean): Condition {
  if (!columnTypes[column.type].hasText) return { kind: isNegated ? "and" : "or", members: [] };
  const like: Condition = { kind: "like", column, pattern, negated: isNegated, ignoreCase: true };
  return isNegated ? orMissing(column, like) : like;
}

export const orMissing = (column: Column, ...others: readonly Condition[]): Condition => ({
  kind: "or",
  members: [{ kind: "null", column, negated: false }, ...others],
});

const isAmong = (column: Column, values: readonly Scalar[]): Condition => ({
  kind: "or",
  members: values.map((value) => ({ kind: "compare", column, operator: "=", value })),
});

function valuesFound(
  wordsOf: ReadonlyMap<Scalar, readonly string[]>,
  test: TextTest,
  text: string,
): Scalar[] {
  const wanted = text.toLowerCase();
  const found = [...wordsOf].filter(([, words]) => words.some((word) => tests[test](word, wanted)));
  return found.map(([value]) => value);
}

const startsWith = (word: string, text: string): boolean => word.startsWith(text);

const tests: Record<TextTest, (word: string, text: string) => boolean> = {
  contains: startsWith,
  starts: startsWith,
  ends: (word, text) => word.endsWith(text),
  same: (word, text) => word === text,
};

/** `%`, `_` and the backslash are escaped. */
function patternOf(test: TextTest, text: string): string {
  const literal = text.replace(/[\\%_]/g, "\\$&");
  const isOpenBefore = test === "contains" || test === "ends";
  const isOpenBehind = test === "contains" || test === "starts";
  return `${isOpenBefore ? "%" : ""}${literal}${isOpenBehind ? "%" : ""}`;
}
