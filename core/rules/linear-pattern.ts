/**
 * A regular expression of the operator, run by an engine whose time grows only with the length of the text (RE2).
 * JavaScript's own engine tries every way to match: `^(a+)+$` on 30 characters stops the whole process for seconds. The
 * syntax is JavaScript's, as far as RE2 supports it; where the two mean different things, the pattern is rewritten to
 * what JavaScript means.
 */
import { RE2JS } from "re2js";

export interface LinearPattern {
  /** Whether it matches anywhere in the text. */
  test(text: string): boolean;
}

const needsBacktracking =
  "holds a lookahead, a lookbehind or a back-reference, which can take endless time to check; write it without";

/** The pattern, or what is wrong with it, which follows "it". */
export function readLinearPattern(source: string): LinearPattern | string {
  if (!isPattern(source)) return "is not a regular expression";
  if (holdsReference(source)) return needsBacktracking;
  try {
    return RE2JS.compile(RE2JS.translateRegExp(asJavaScriptMeans(source)));
  } catch {
    return /\(\?<?[=!]/.test(source)
      ? needsBacktracking
      : "holds syntax that RE2, which checks patterns, does not have, such as a repetition beyond 1000; write it without";
  }
}

/** Whether JavaScript accepts it, and so do the tools of clients that read the schema. */
const isPattern = (source: string): boolean =>
  isPatternWith(source, "u") || isPatternWith(source, "");

/** Whether JavaScript accepts it with these flags. */
export function isPatternWith(source: string, flags: "u" | ""): boolean {
  try {
    new RegExp(source, flags);
    return true;
  } catch {
    return false;
  }
}

/** For a class: the members of JavaScript's `\s`, and the complement. */
const blanks =
  "\\t-\\r\\x20\\xa0\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}";
const others =
  "\\x00-\\x08\\x0e-\\x1f\\x21-\\x9f\\xa1-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}" +
  "\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}";

const meanings: Readonly<Record<string, { readonly inClass: string; readonly alone: string }>> = {
  "\\s": { inClass: blanks, alone: `[${blanks}]` },
  "\\S": { inClass: others, alone: `[^${blanks}]` },
  "\\b": { inClass: "\\x08", alone: "\\b" },
  "\\0": { inClass: "\\x00", alone: "\\x00" },
  ".": { inClass: ".", alone: "[^\\n\\r\\x{2028}\\x{2029}]" },
  // RE2 reads classes such as [:alpha:] and nested ones here.
  "[": { inClass: "\\[", alone: "[" },
};

/** RE2's JavaScript edition takes `\k<name>` for its letters. */
const holdsReference = (source: string): boolean =>
  source
    .replace(/\\[^1-9k]/g, "")
    .replace(/\[[^\]]*\]/g, "")
    .match(/\\[1-9k]/) !== null;

function asJavaScriptMeans(source: string): string {
  let isInClass = false;
  return source.replace(/\\[^]|[^]/gu, (token) => {
    const meaning = Object.hasOwn(meanings, token) ? meanings[token] : undefined;
    const meant = (isInClass ? meaning?.inClass : meaning?.alone) ?? token;
    if (token === "[") isInClass = true;
    else if (token === "]") isInClass = false;
    return meant;
  });
}
