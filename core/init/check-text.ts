/**
 * The simple conditions of a check constraint as constraints of `fieldValidation`: a bound of a number, a range, a list of texts.
 * All else stays with the database, which checks it anyway.
 */

export interface CheckedColumn {
  readonly min?: number;
  readonly max?: number;
  readonly enum?: readonly string[];
}

const name = String.raw`(?:"([^"]+)"|${"`"}([^${"`"}]+)${"`"}|\[([^\]]+)\]|([A-Za-z_]\w*))`;
const number = String.raw`'?(-?\d+(?:\.\d+)?)'?`;
const bound = new RegExp(String.raw`^${name}\s*(>=|<=|>|<)\s*${number}$`);
const between = new RegExp(String.raw`^${name}\s+between\s+${number}\s+and\s+${number}$`, "i");
const listed = new RegExp(String.raw`^${name}\s+in\s*\((.*)\)$`, "is");
const anyOf = new RegExp(
  String.raw`^${name}\s*=\s*any\s*\(\(?array\[(.*)\]\)?(?:::text\[\])?\)$`,
  "is",
);

/** By column; a condition that says more than one thing gives what all of its parts say. */
export function checkedColumns(conditions: readonly string[]): Map<string, CheckedColumn> {
  const found = new Map<string, CheckedColumn>();
  for (const condition of conditions)
    for (const part of partsOf(bare(condition))) {
      const read = readPart(bare(part));
      if (read) found.set(read.column, { ...found.get(read.column), ...read.asks });
    }
  return found;
}

function readPart(text: string): { column: string; asks: CheckedColumn } | null {
  const plain = text
    .replace(/::[a-z ]+(?:\(\d+(?:,\s*\d+)?\))?(?=[\s,)\]]|$)/gi, "")
    .replace(/\((-?[\d.]+)\)/g, "$1");
  const limit = bound.exec(plain);
  if (limit) {
    const [operator, value] = [limit[5]!, Number(limit[6])];
    const column = columnOf(limit);
    if (operator === ">=") return { column, asks: { min: value } };
    if (operator === "<=") return { column, asks: { max: value } };
    // A bound that does not belong to the range has no constraint of its own.
    return null;
  }
  const range = between.exec(plain);
  if (range)
    return { column: columnOf(range), asks: { min: Number(range[5]), max: Number(range[6]) } };
  const list = listed.exec(unwrapped(plain)) ?? anyOf.exec(unwrapped(plain));
  const members = list && textsIn(list[5]!);
  return list && members ? { column: columnOf(list), asks: { enum: members } } : null;
}

/** PostgreSQL writes `((status)::text = ANY ((ARRAY['a'::character varying])::text[]))`. */
const unwrapped = (text: string): string =>
  text.replace(/^\(([A-Za-z_]\w*|"[^"]+")\)/, "$1").replace(/\(\(array\[(.*)\]\)/is, "(ARRAY[$1]");

const columnOf = (found: RegExpExecArray): string =>
  found.slice(1, 5).find((one) => one !== undefined)!;

/** Null unless all members are texts. */
function textsIn(list: string): string[] | null {
  const members = list.match(/'(?:[^']|'')*'|[^,\s]+/g) ?? [];
  if (members.length === 0 || !members.every((one) => one.startsWith("'"))) return null;
  return members.map((one) => one.slice(1, -1).replaceAll("''", "'"));
}

/** Without brackets around the whole. */
function bare(condition: string): string {
  let text = condition.trim();
  while (text.startsWith("(") && closes(text) === text.length - 1) text = text.slice(1, -1).trim();
  return text;
}

/** Where the first bracket is closed. */
function closes(text: string): number {
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/'(?:[^']|'')*'|[()]/g)) {
    if (token === "(") depth++;
    else if (token === ")" && --depth === 0) return index;
  }
  return -1;
}

/** The members of a condition that are joined with AND at its top. */
function partsOf(text: string): string[] {
  const parts: string[] = [];
  let [depth, start, isRange] = [0, 0, false];
  for (const { 0: token, index } of text.matchAll(/'(?:[^']|'')*'|[()]|\b(?:and|or|between)\b/gi)) {
    const word = token.toLowerCase();
    if (token === "(") depth++;
    else if (token === ")") depth--;
    else if (depth > 0 || word.startsWith("'")) continue;
    else if (word === "or") return [];
    else if (word === "between") isRange = true;
    else if (isRange) isRange = false;
    else {
      parts.push(text.slice(start, index));
      start = index + token.length;
    }
  }
  return [...parts, text.slice(start)];
}
