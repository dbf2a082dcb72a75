/** The types of a SELECT's columns, as far as the text of each tells it for sure. */
import type { ColumnType } from "../../../core/values/column.ts";

/** One for each column, null where its text tells nothing; null in all where the list cannot be told apart, as with `*`. */
export function expressionTypes(
  select: string,
  columns: number,
): readonly (ColumnType | null)[] | null {
  const outer = outerOf(wordsOf(select));
  const from = outer.findIndex((word) => word.text === "SELECT");
  if (from < 0 || outer.some(({ text }) => compounds.has(text))) return null;
  const end = outer.findIndex(({ text }, at) => at > from && listEnds.has(text));
  const list = outer.slice(from + 1, end < 0 ? undefined : end);
  if (list[0]?.text === "DISTINCT" || list[0]?.text === "ALL") list.shift();
  const items = splitAt(list, ",");
  const isWhole = items.length === columns && !items.some((item) => item.at(-1)?.text === "*");
  return isWhole ? items.map((item) => typeOf(withoutAlias(item))) : null;
}

/** A word in upper case, a mark, or `(` for a whole bracket, with what is in it. */
interface Word {
  readonly text: string;
  readonly inner: readonly Word[];
}

const compounds = new Set(["UNION", "EXCEPT", "INTERSECT", "VALUES"]);
const listEnds = new Set(["FROM", "WHERE", "GROUP", "HAVING", "WINDOW", "ORDER", "LIMIT", ";"]);

const pattern =
  /--[^\n]*|\/\*[^]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|[A-Za-z_\u0080-\uFFFF][\w$\u0080-\uFFFF]*|\d[\w.]*|\|\||->>?|<<|>>|<=|>=|<>|!=|==|\S/g;

const wordsOf = (sql: string): readonly string[] =>
  [...sql.matchAll(pattern)]
    .map(([text]) => text)
    .filter((text) => !text.startsWith("--") && !text.startsWith("/*"));

/** The words outside of all brackets; a bracket is one word, and so is CASE … END. */
function outerOf(words: readonly string[]): Word[] {
  const levels: Word[][] = [[]];
  for (const word of words) {
    const text = /^[\w]/.test(word) ? word.toUpperCase() : word;
    const opens = text === "(" || text === "CASE";
    const closes = text === ")" || (text === "END" && levels.length > 1);
    if (opens) {
      levels.push([]);
    } else if (closes) {
      const inner = levels.pop() ?? [];
      levels.at(-1)?.push({ text: text === ")" ? "(" : "CASE", inner });
    } else {
      levels.at(-1)?.push({ text, inner: [] });
    }
  }
  return levels[0] ?? [];
}

function splitAt(words: readonly Word[], mark: string): Word[][] {
  const parts: Word[][] = [[]];
  for (const word of words) {
    if (word.text === mark) parts.push([]);
    else parts.at(-1)!.push(word);
  }
  return parts;
}

/** An alias without AS stands behind a whole expression, where no other word can. */
function withoutAlias(item: readonly Word[]): readonly Word[] {
  const as = item.findLastIndex(({ text }) => text === "AS");
  if (as >= 0) return item.slice(0, as);
  const [before, last] = item.slice(-2);
  const isName = last !== undefined && /^[\w"`[]/.test(last.text) && !operators.has(last.text);
  const isBehind = before !== undefined && /^[\w"`'([]/.test(before.text);
  return isName && isBehind && !operators.has(before.text) ? item.slice(0, -1) : item;
}

const comparisons = new Set(
  "= == != <> < <= > >= IS ISNULL NOTNULL IN LIKE GLOB REGEXP MATCH BETWEEN AND OR NOT EXISTS".split(
    " ",
  ),
);
const arithmetic = new Set("+ - * / % & | ~ << >> -> ->> COLLATE".split(" "));
const operators = new Set([...comparisons, ...arithmetic, "||", "NULL"]);

/** Nothing binds less than a comparison, and `||` alone of the others always gives a text. */
function typeOf(words: readonly Word[]): ColumnType | null {
  if (words.some(({ text }) => comparisons.has(text))) return "boolean";
  if (words.some(({ text }) => arithmetic.has(text))) return null;
  if (words.some(({ text }) => text === "||")) return "text";
  const [first, second, third] = words;
  if (first?.text === "(" && words.length === 1) return typeOf(first.inner);
  if (first === undefined || second?.text !== "(") return null;
  if (first.text === "CAST") return words.length === 2 ? castType(second.inner) : null;
  const isCall = words.length === 2 || third?.text === "OVER" || third?.text === "FILTER";
  return isCall ? (functionTypes.get(first.text) ?? null) : null;
}

function castType(inner: readonly Word[]): ColumnType | null {
  const as = inner.findLastIndex(({ text }) => text === "AS");
  const name = inner
    .slice(as + 1)
    .map(({ text }) => text)
    .join(" ");
  if (as < 0) return null;
  if (name.includes("INT")) return "integer";
  if (/CHAR|CLOB|TEXT/.test(name)) return "text";
  return /REAL|FLOA|DOUB/.test(name) ? "float" : null;
}

const functionTypes: ReadonlyMap<string, ColumnType> = new Map(
  (
    [
      ["integer", "COUNT LENGTH OCTET_LENGTH INSTR UNICODE ROW_NUMBER RANK DENSE_RANK NTILE"],
      ["float", "AVG TOTAL JULIANDAY PERCENT_RANK CUME_DIST"],
      [
        "text",
        "UPPER LOWER HEX QUOTE TYPEOF PRINTF FORMAT GROUP_CONCAT STRING_AGG CONCAT CONCAT_WS",
      ],
      ["date", "DATE"],
      ["time", "TIME"],
      ["timestamp", "DATETIME"],
    ] as const
  ).flatMap(([type, names]) => names.split(" ").map((name) => [name, type] as const)),
);
