/** What can be told of a pattern of LIKE before it is compared. */

/** Whether a pattern has only ASCII, which the engines match more cheaply. */
function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return false;
  return true;
}

/** Letters that have the same small letters in the collations that agree, and those that have no case. */
const beyondAscii =
  "À-Þà-įĲ-ňŊ-žΆ-ΏΑ-ΡΤ-ρτ-ώЀ-џ\u0590-\u109F\u1100-\u139F\u3000-\uA4CF\uAC00-\uD7A3";
const loose = `[ -$&-HJL-Z^\`-hjl-~${beyondAscii}Σσς]*`;

/**
 * The head of a pattern: its letters, digits and signs before any other, with which each match begins in lower case. By
 * it an index finds the matches of any pattern. Empty where it has none.
 *
 * With letters beyond ASCII in the pattern, the collation of the comparison is not that of the index. `mixed`: letters
 * end the head that fold differently in some collations, or by what follows them (i, k, sigma). `common`: the two agree
 * on the letters of Latin, Greek and Cyrillic; only a sigma ends it, which may be the last of it in any of its forms.
 * `loose`: they agree on the same, but for i, k and ß, of which the head has one at most.
 */
export const heads = {
  ascii: /^[ -$&-Z^`-~]*/,
  mixed: /^[ -$&-HJL-Z^`-hjl-~]*/,
  common: new RegExp(`^[ -$&-Z^\`-~${beyondAscii}ß]*[Σσς]?`),
  loose: new RegExp(`^${loose}(?:[IiKkß]${loose})?`),
} as const;

/** What differs in the SQL of patterns. */
export interface PatternKind {
  readonly ascii: boolean;
  /**
   * An index can find the matches: in every collation that folds case, or only in those that agree on common letters;
   * null = it cannot.
   */
  readonly begins: "anywhere" | "common" | null;
  /** A head in ASCII and `%`: what the index finds are the matches. */
  readonly isHead: boolean;
}

export function patternKind(pattern: string): PatternKind {
  const ascii = isAscii(pattern);
  const headOf = (letters: keyof typeof heads): string => heads[letters].exec(pattern)![0];
  const head = headOf(ascii ? "ascii" : "mixed");
  if (head !== "") return { ascii, begins: "anywhere", isHead: ascii && pattern === `${head}%` };
  const begins = !ascii && headOf("common") !== "" ? "common" : null;
  return { ascii, begins, isHead: false };
}
