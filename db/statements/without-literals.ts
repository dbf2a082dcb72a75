/** Takes the values out of SQL that somebody else wrote, for logs and traces. */
import type { Dialect } from "./dialect.ts";

/**
 * Comments, literals, quoted and dollar-quoted texts, names, and numbers. A text that never ends counts to the end. A
 * backslash in a literal ends the whole, because engines disagree on what it does.
 */
const parts =
  /(?<comment>--[^\n]*|\/\*[^]*?(?:\*\/|$))|'(?:[^'\\]|'')*(?:'|$)|(?<dollar>\$(?<tag>[A-Za-z_]\w*|)\$)[^]*?(?:\$\k<tag>\$|$)|(?<double>"(?:[^"\\]|"")*(?:"|$))|(?<back>`(?:[^`]|``)*(?:`|$))|(?<rest>['"][^]*)|(?<![\w$:])\d[\w.]*/g;

/** The text with `?` in place of each literal, and without comments: two texts that differ in values only become one. */
export function withoutLiterals(text: string, { quote }: Pick<Dialect, "quote">): string {
  return text.replace(parts, (part, ...found) => {
    const { comment, double, back, rest } = found.at(-1) as Record<string, string | undefined>;
    if (comment !== undefined) return " ";
    if (rest !== undefined) return "…";
    // What is no name to this engine is a text.
    if (double !== undefined) return quote === '"' ? part : "?";
    return back === undefined ? "?" : part;
  });
}
