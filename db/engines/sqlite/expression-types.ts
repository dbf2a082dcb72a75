/**
 * The types of a SELECT's columns, if the text of an expression is conclusive; with the types of the columns that it
 * reads, also those that its values can refute. Expressions are parsed as SQLite does:
 * many words are operators in one place and column names in another, and brackets hide their content from outside.
 */
import type { ColumnType } from "../../../core/values/types/column.ts";

/** The type that the only column of a SELECT is declared with; null where there is none. */
export type DeclaredType = (select: string) => ColumnType | null;

/**
 * One type per column, null if its text is not conclusive. Null for all if the list cannot be split. What a `*` stands
 * for is not known, so only expressions before the first and after the last one have a type.
 * `declared`: results of arithmetic are numbers then, and extremes and choices have the type of their columns.
 */
export function expressionTypes(
  select: string,
  columns: number,
  declared: DeclaredType | null = null,
): readonly (ColumnType | null)[] | null {
  const list = listOf(bracketsOf(wordsOf(select)), { declared, prefix: "", source: "" });
  if (list === null) return null;
  const types = list.items.map((item) => typeOf(item, list.scope));
  const star = list.items.findIndex(isStar);
  if (star < 0) return types.length === columns ? types : null;
  const after = types.slice(list.items.findLastIndex(isStar) + 1);
  const between = Math.max(columns - star - after.length, 0);
  return [...types.slice(0, star), ...Array<null>(between).fill(null), ...after];
}

/** `*`, or `x.*`. */
const isStar = (item: readonly Word[]): boolean => item.at(-1)?.text === "*";

/** Where an expression stands. */
interface Scope {
  /** Null: only what the text alone tells. */
  readonly declared: DeclaredType | null;
  /** The WITH before the SELECT, and its FROM. Empty = none. */
  readonly prefix: string;
  readonly source: string;
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

interface List {
  readonly items: readonly (readonly Word[])[];
  readonly scope: Scope;
}

/** The expressions in the list of the outermost SELECT; null where there is not one SELECT. */
function listOf(words: readonly Word[], outer: Scope): List | null {
  const from = words.findIndex(({ text }) => text === "SELECT");
  if (from < 0 || words.some(({ text }) => compounds.has(text))) return null;
  const endAfter = (start: number): number => {
    const end = words.findIndex(({ text }, at) => at > start && listEnds.has(text));
    return end < 0 ? words.length : end;
  };
  const end = endAfter(from);
  const items = splitAt(withoutDistinct(words.slice(from + 1, end)), ",");
  const opening = words.findIndex(({ text }) => text === "WITH");
  const prefix = opening >= 0 && opening < from ? textOf(words.slice(opening, from)) : outer.prefix;
  const source = words[end]?.text === "FROM" ? textOf(words.slice(end, endAfter(end))) : "";
  return { items, scope: { declared: outer.declared, prefix, source } };
}

const withoutDistinct = (words: readonly Word[]): readonly Word[] =>
  ["DISTINCT", "ALL"].includes(words[0]?.text ?? "") ? words.slice(1) : words;

const textOf = (words: readonly Word[]): string =>
  words
    .map(({ text, inner }) => {
      if (text === "(") return `(${textOf(inner)})`;
      return text === "CASE" ? `CASE ${textOf(inner)} END` : text;
    })
    .join(" ");

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
function typeOf(words: readonly Word[], scope: Scope): ColumnType | null {
  if (words[0]?.text === "NOT") return comparisonType(words);
  const rest = [...words];
  const operands: (ColumnType | null)[] = [];
  const used = new Set<string>();
  for (;;) {
    const isSigned = "+-~".includes(rest[0]?.text ?? " ");
    while ("+-~".includes(rest[0]?.text ?? " ")) rest.shift();
    const operand = takeOperand(rest, scope);
    operands.push(isSigned ? numberType([operand], scope) : operand);
    while (rest[0]?.text === "COLLATE") rest.splice(0, 2);
    const mark = rest.shift()?.text;
    if (mark !== undefined && comparisons.has(mark)) return comparisonType(words);
    if (mark !== undefined && marks.has(mark)) used.add(mark);
    // A name after the whole expression.
    else if (mark !== undefined && mark !== "AS" && rest.length > 0) return null;
    else break;
  }
  const [type = null] = operands;
  if (used.size === 0) return type;
  if ([...used].every((mark) => mark === "||")) return "text";
  return [...used].some((mark) => /[|>]/.test(mark)) ? null : numberType(operands, scope);
}

/** Of arithmetic, whose results are numbers whatever the operands are. */
function numberType(
  operands: readonly (ColumnType | null)[],
  { declared }: Scope,
): ColumnType | null {
  if (declared === null) return null;
  return operands.every((type) => type === "integer" || type === "boolean") ? "integer" : "float";
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
function takeOperand(rest: Word[], scope: Scope): ColumnType | null {
  const { text, inner } = rest.shift() ?? { text: "", inner: [] };
  if (text === "(") {
    const isQuery = ["SELECT", "WITH", "VALUES"].includes(inner[0]?.text ?? "");
    const list = isQuery ? listOf(inner, scope) : { items: [inner], scope };
    return list?.items.length === 1 ? typeOf(list.items[0]!, list.scope) : null;
  }
  if (text === "CASE") return commonType(branchesOf(inner), scope);
  const isNext = (word: string): boolean => rest[0]?.text === word;
  const name = [text];
  while (isNext(".")) name.push(...rest.splice(0, 2).map((word) => word.text));
  if (!isNext("(")) return literalType(text) ?? columnType(name.join(""), scope);
  const args = withoutDistinct(rest.shift()!.inner);
  if (isNext("FILTER")) rest.splice(0, 2);
  if (isNext("OVER")) rest.splice(0, 2);
  if (text === "CAST") return castType(args);
  if (text === "EXISTS") return "boolean";
  if (text === "SUM" || text === "ABS") return numberType([typeOf(args, scope)], scope);
  const chosen = choices.get(text);
  return chosen === undefined
    ? (functionTypes.get(text) ?? null)
    : commonType(splitAt(args, ",").slice(...chosen), scope);
}

const columnType = (name: string, { declared, prefix, source }: Scope): ColumnType | null =>
  declared !== null && /^["`[A-Z_\u0080-\uFFFF]/.test(name)
    ? declared(`${prefix} SELECT ${name} ${source}`)
    : null;

const branchesOf = (inner: readonly Word[]): readonly (readonly Word[])[] =>
  splitAt(inner, "WHEN", "ELSE").flatMap((part, at) => {
    const then = part.findIndex(({ text }) => text === "THEN");
    return then >= 0 ? [part.slice(then + 1)] : at > 0 ? [part] : [];
  });

/** The type that all of them have; NULL has every type. */
function commonType(expressions: readonly (readonly Word[])[], scope: Scope): ColumnType | null {
  const types = new Set(
    expressions
      .filter((words) => !(words.length === 1 && words[0]!.text === "NULL"))
      .map((words) => typeOf(words, scope)),
  );
  const isNumber = [...types].every((type) => type === "integer" || type === "float");
  if (types.size === 2 && isNumber) return numberType([...types], scope);
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
  ["MIN", [0]],
  ["MAX", [0]],
  ["FIRST_VALUE", [0]],
  ["LAST_VALUE", [0]],
  ["LAG", [0, 1]],
  ["LEAD", [0, 1]],
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
