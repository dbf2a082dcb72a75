/**
 * The types of a SELECT's columns, if the text of an expression is conclusive. Expressions are parsed as SQLite does:
 * many words are operators in one place and column names in another, and brackets hide their content from outside.
 */
import type { ColumnType } from "../../../core/values/types/column.ts";

/** One type per column, null if its text is not conclusive. Null for all if the list cannot be split, as with `*`. */
export function expressionTypes(
  select: string,
  columns: number,
): readonly (ColumnType | null)[] | null {
  const items = itemsOf(bracketsOf(wordsOf(select)));
  return items?.length === columns ? items.map(typeOf) : null;
}

/** A word in upper case, a text or a symbol; or `(` and `CASE` with their content. */
interface Word {
  readonly text: string;
  readonly inner: readonly Word[];
}

const pattern =
  /--[^\n]*|\/\*[^]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|[A-Za-z_\u0080-\uFFFF][\w$\u0080-\uFFFF]*|\d[\w.]*|\|\||->>?|<<|>>|<=|>=|<>|!=|==|\S/g;

const wordsOf = (sql: string): readonly string[] =>
  [...sql.matchAll(pattern)]
    .map(([text]) => (/^\w/.test(text) ? text.toUpperCase() : text))
    .filter((text) => !text.startsWith("--") && !text.startsWith("/*"));

/** The words outside of all brackets. An empty list if the brackets do not match. */
function bracketsOf(words: readonly string[]): readonly Word[] {
  const levels: { text: string; inner: Word[] }[] = [{ text: "", inner: [] }];
  for (const text of words) {
    const { text: opened, inner } = levels.at(-1)!;
    const before = inner.at(-1)?.text;
    const isName = before === ".";
    // END is a name where an operand is expected.
    const isEnd =
      text === "END" && opened === "CASE" && before !== undefined && !precedesOperand.has(before);
    if ((text === ")" || isEnd) && !isName) levels.at(-2)?.inner.push(levels.pop()!);
    else if ((text === "(" || text === "CASE") && !isName) levels.push({ text, inner: [] });
    else inner.push({ text, inner: [] });
  }
  return levels.length === 1 ? levels[0]!.inner : [];
}

/** The expressions in the list of the outermost SELECT; null where there is not one SELECT, or `*` in its list. */
function itemsOf(words: readonly Word[]): readonly (readonly Word[])[] | null {
  const from = words.findIndex(({ text }) => text === "SELECT");
  if (from < 0 || words.some(({ text }) => compounds.has(text))) return null;
  const end = words.findIndex(({ text }, at) => at > from && listEnds.has(text));
  const list = words.slice(from + 1, end < 0 ? undefined : end);
  if (list[0]?.text === "DISTINCT" || list[0]?.text === "ALL") list.shift();
  const items = splitAt(list, ",");
  return items.some((item) => item.at(-1)?.text === "*") ? null : items;
}

const compounds = new Set(["UNION", "EXCEPT", "INTERSECT", "VALUES"]);
const listEnds = new Set(["FROM", "WHERE", "GROUP", "HAVING", "WINDOW", "ORDER", "LIMIT", ";"]);

function splitAt(words: readonly Word[], ...marks: readonly string[]): Word[][] {
  const parts: Word[][] = [[]];
  for (const word of words) {
    if (marks.includes(word.text)) parts.push([]);
    else parts.at(-1)!.push(word);
  }
  return parts;
}

/** Operators between operands that bind less than all others. */
const comparisons = new Set(
  "= == != <> < <= > >= IS ISNULL NOTNULL IN LIKE GLOB REGEXP MATCH BETWEEN AND OR NOT".split(" "),
);
const marks = new Set("+ - * / % & | << >> || -> ->>".split(" "));
const precedesOperand = new Set([...comparisons, ...marks, "~", ",", "WHEN", "THEN", "ELSE"]);

/** Of an expression, with its alias or without. */
function typeOf(words: readonly Word[]): ColumnType | null {
  if (words[0]?.text === "NOT") return comparisonType(words);
  const rest = [...words];
  let type: ColumnType | null = null;
  for (let isFirst = true; ; isFirst = false) {
    const isSigned = "+-~".includes(rest[0]?.text ?? " ");
    while ("+-~".includes(rest[0]?.text ?? " ")) rest.shift();
    const operand = takeOperand(rest);
    while (rest[0]?.text === "COLLATE") rest.splice(0, 2);
    if (isFirst) type = isSigned ? null : operand;
    const mark = rest.shift()?.text;
    if (mark === undefined || mark === "AS") return type;
    if (comparisons.has(mark)) return comparisonType(words);
    // A name after the whole expression.
    if (!marks.has(mark)) return rest.length === 0 ? type : null;
    type = mark === "||" && (isFirst || type === "text") ? "text" : null;
    if (type === null && !rest.some(({ text }) => comparisons.has(text))) return null;
  }
}

/** A complete comparison such as `x IN (…)` can be an operand of an operator after it. */
function comparisonType(words: readonly Word[]): ColumnType | null {
  const isOperand = words.some(
    ({ text }, at) =>
      marks.has(text) &&
      (["ISNULL", "NOTNULL"].includes(words[at - 1]?.text ?? "") ||
        words[at - 2]?.text === "IN" ||
        (words[at - 1]?.text === "NULL" && words[at - 2]?.text === "NOT")),
  );
  return isOperand ? null : "boolean";
}

/** Takes one operand off the words, and gives its type. */
function takeOperand(rest: Word[]): ColumnType | null {
  const { text, inner } = rest.shift() ?? { text: "", inner: [] };
  if (text === "(") {
    const isQuery = ["SELECT", "WITH", "VALUES"].includes(inner[0]?.text ?? "");
    const items = isQuery ? itemsOf(inner) : [inner];
    return items?.length === 1 ? typeOf(items[0]!) : null;
  }
  if (text === "CASE") return commonType(branchesOf(inner));
  const isNext = (word: string): boolean => rest[0]?.text === word;
  while (isNext(".")) rest.splice(0, 2);
  if (!isNext("(")) return literalType(text);
  const args = rest.shift()!.inner;
  if (isNext("FILTER")) rest.splice(0, 2);
  if (isNext("OVER")) rest.splice(0, 2);
  if (text === "CAST") return castType(args);
  if (text === "EXISTS") return "boolean";
  const chosen = choices.get(text);
  return chosen === undefined
    ? (functionTypes.get(text) ?? null)
    : commonType(splitAt(args, ",").slice(...chosen));
}

const branchesOf = (inner: readonly Word[]): readonly (readonly Word[])[] =>
  splitAt(inner, "WHEN", "ELSE").flatMap((part, at) => {
    const then = part.findIndex(({ text }) => text === "THEN");
    return then >= 0 ? [part.slice(then + 1)] : at > 0 ? [part] : [];
  });

/** The type that all of them have; NULL has every type. */
function commonType(expressions: readonly (readonly Word[])[]): ColumnType | null {
  const types = new Set(
    expressions.filter((words) => !(words.length === 1 && words[0]!.text === "NULL")).map(typeOf),
  );
  return types.size === 1 ? [...types][0]! : null;
}

function literalType(text: string): ColumnType | null {
  if (text.startsWith("'")) return "text";
  // More digits may be too many for an integer.
  if (/^\d{1,18}$/.test(text)) return "integer";
  return /^\d+\.\d*$/.test(text) ? "float" : (constants.get(text) ?? null);
}

const constants: ReadonlyMap<string, ColumnType> = new Map([
  ["TRUE", "boolean"],
  ["FALSE", "boolean"],
  ["CURRENT_DATE", "date"],
  ["CURRENT_TIME", "time"],
  ["CURRENT_TIMESTAMP", "timestamp"],
]);

function castType(inner: readonly Word[]): ColumnType | null {
  const as = inner.findLastIndex(({ text }) => text === "AS");
  const name = inner
    .slice(as + 1)
    .map(({ text }) => text.toUpperCase())
    .join(" ");
  if (as < 0) return null;
  if (name.includes("INT")) return "integer";
  if (/CHAR|CLOB|TEXT/.test(name)) return "text";
  return /REAL|FLOA|DOUB/.test(name) && !name.includes("BLOB") ? "float" : null;
}

/** Functions that return one of their arguments: from the first index up to, but without, the second. */
const choices: ReadonlyMap<string, [number, number?]> = new Map([
  ["COALESCE", [0]],
  ["IFNULL", [0]],
  ["IIF", [1]],
  ["NULLIF", [0, 1]],
]);

const functionTypes: ReadonlyMap<string, ColumnType> = new Map(
  (
    [
      ["integer", "COUNT LENGTH OCTET_LENGTH INSTR UNICODE ROW_NUMBER RANK DENSE_RANK NTILE SIGN"],
      ["float", "AVG TOTAL ROUND JULIANDAY PERCENT_RANK CUME_DIST"],
      [
        "text",
        "UPPER LOWER TRIM LTRIM RTRIM REPLACE HEX QUOTE TYPEOF PRINTF FORMAT STRFTIME GROUP_CONCAT STRING_AGG CONCAT CONCAT_WS",
      ],
      ["date", "DATE"],
      ["time", "TIME"],
      ["timestamp", "DATETIME"],
    ] as const
  ).flatMap(([type, names]) => names.split(" ").map((name) => [name, type] as const)),
);
