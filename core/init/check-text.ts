/**
 * Translates simple conditions of a check constraint to constraints of `fieldValidation`: bounds of a number, a list of
 * texts. The database still checks all others. Conditions have the spelling of any of the three engines.
 */

export interface CheckedColumn {
  readonly min?: number;
  readonly max?: number;
  readonly enum?: readonly string[];
}

interface Asked {
  readonly column: string;
  readonly asks: CheckedColumn;
}

const column = String.raw`("[^"]+"|\x60[^\x60]+\x60|\[[^\]]+\]|[A-Za-z_]\w*)`;
const number = String.raw`'?(-?\d+(?:\.\d+)?)'?`;
const atLeast = new RegExp(`^${column} *>= *${number}$`);
const atMost = new RegExp(`^${column} *<= *${number}$`);
const between = new RegExp(`^${column} +between +${number} +and +${number}$`, "i");
const oneOf = new RegExp(String.raw`^${column} +in *\((.*)\)$`, "is");
const anyOf = new RegExp(String.raw`^${column} *= *any *\(+array *\[(.*)\]\)*$`, "is");

/** By column; of several conditions about one column all count. */
export function checkedColumns(conditions: readonly string[]): Map<string, CheckedColumn> {
  const found = new Map<string, CheckedColumn>();
  for (const condition of conditions)
    for (const part of membersOf(bare(condition))) {
      const read = readMember(simplified(bare(part)));
      if (read) found.set(read.column, { ...found.get(read.column), ...read.asks });
    }
  return found;
}

/** Null for a condition that no constraint of a rule expresses. */
function readMember(text: string): Asked | null {
  const least = atLeast.exec(text);
  if (least) return { column: nameIn(least), asks: { min: Number(least[2]) } };
  const most = atMost.exec(text);
  if (most) return { column: nameIn(most), asks: { max: Number(most[2]) } };
  const range = between.exec(text);
  if (range)
    return { column: nameIn(range), asks: { min: Number(range[2]), max: Number(range[3]) } };
  const list = oneOf.exec(text) ?? anyOf.exec(text);
  const members = list && textsIn(list[2]!);
  return list && members ? { column: nameIn(list), asks: { enum: members } } : null;
}

const nameIn = ([, name]: RegExpExecArray): string => name!.replace(/^["`[]|["`\]]$/g, "");

const quotedText = String.raw`'(?:[^'\\]|''|\\.)*'`;

/** Without casts, and without brackets around a single name or number: `(status)::text` -> `status`. */
function simplified(text: string): string {
  const cast = new RegExp(
    String.raw`(${quotedText})|::(?:[a-z]+(?: varying| precision)?|"[^"]+")(?:\([\d,]+\))?(?:\[\])?`,
    "gi",
  );
  const single = new RegExp(String.raw`(${quotedText})|\(("[^"]+"|[A-Za-z_]\w*|-?[\d.]+)\)`, "g");
  return text
    .replace(cast, (_, kept: string | undefined) => kept ?? "")
    .replace(single, (whole, kept: string | undefined, inner: string | undefined) =>
      kept === undefined ? ` ${inner} ` : whole,
    )
    .trim();
}

/** Null unless all members are texts. */
function textsIn(list: string): string[] | null {
  const members = list.match(new RegExp(`${quotedText}|[^,\\s]+`, "g")) ?? [];
  if (members.length === 0 || !members.every((one) => one.startsWith("'"))) return null;
  return members.map((one) => one.slice(1, -1).replace(/''|\\(.)/g, (_, plain) => plain ?? "'"));
}

/** Without brackets around the whole. */
function bare(condition: string): string {
  let text = condition.trim();
  while (text.startsWith("(") && closingOf(text) === text.length - 1)
    text = text.slice(1, -1).trim();
  return text;
}

const tokens = new RegExp(String.raw`${quotedText}|[()]|\b(?:and|or|between)\b`, "gi");

/** The position at which the first bracket is closed. */
function closingOf(text: string): number {
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(tokens)) {
    if (token === "(") depth++;
    else if (token === ")" && --depth === 0) return index;
  }
  return -1;
}

/** The members that AND joins at the top of a condition; empty if OR joins some. */
function membersOf(text: string): string[] {
  const members: string[] = [];
  let [depth, start] = [0, 0];
  let isRange = false;
  for (const { 0: token, index } of text.matchAll(tokens)) {
    const word = token.toLowerCase();
    if (word === "(") depth++;
    else if (word === ")") depth--;
    else if (depth > 0 || word.startsWith("'")) continue;
    else if (word === "or") return [];
    else if (word === "between") isRange = true;
    else if (isRange) isRange = false;
    else {
      members.push(text.slice(start, index));
      start = index + token.length;
    }
  }
  return [...members, text.slice(start)];
}
