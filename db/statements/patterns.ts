/** What can be told of a pattern of LIKE before it is compared. */

/** Whether a pattern has only ASCII, which the engines match more cheaply. */
function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return false;
  return true;
}

/**
 * The head of a pattern: its letters, digits and signs before any other, with which each match begins in lower case. By
 * it an index finds the matches of any pattern. With letters beyond ASCII in the pattern, the collation of the comparison
 * is not that of the index, so letters end the head that fold differently in some collations, or by what follows them
 * (i, k, sigma). `common`: the two agree on these letters of Latin, Greek and Cyrillic, so they do not end it.
 */
export function headOf(letters: "ascii" | "mixed" | "common"): RegExp {
  if (letters === "ascii") return /^[ -$&-Z^`-~]+/;
  if (letters === "mixed") return /^[ -$&-HJL-Z^`-hjl-~]+/;
  return /^[ -$&-HJL-Z^`-hjl-~À-įĲ-ňŊ-žΆ-ΏΑ-ΡΤ-ρτ-ώЀ-џ]+/;
}

/**
 * What differs in the SQL of patterns. `begins`: an index can find the matches; with mixed letters, these may be all of
 * the table.
 */
export function patternKind(pattern: string): {
  readonly ascii: boolean;
  readonly begins: boolean;
} {
  const ascii = isAscii(pattern);
  return { ascii, begins: headOf(ascii ? "ascii" : "common").test(pattern) };
}
