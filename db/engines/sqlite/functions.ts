/**
 * SQL functions that SQLite lacks: matching beyond ASCII, and exact decimals kept as text. Every
 * connection has them.
 */
import { Buffer } from "node:buffer";
import type { Database } from "better-sqlite3";
import { registerAggregates } from "./aggregates.ts";
import { registerFormulas } from "./formulas.ts";
import { addDecimals, normalDecimal } from "../../../core/values/decimal.ts";
import { withoutAccents } from "../../../core/values/text.ts";
import { heads } from "../../statements/patterns.ts";
import { holdsPart, jsonKey, storedJson } from "./json-parts.ts";
import type { StoredForms } from "./forms/stored-forms.ts";
import { type FormType, keyOf, readers, type Unit } from "./forms/stored-values.ts";

export function registerFunctions(database: Database, forms: StoredForms): void {
  const pure = { deterministic: true } as const;
  database.function("rowgate_like", pure, (text: unknown, pattern: unknown) => {
    if (text === null || pattern === null) return null;
    return matchesLike(String(text).toLowerCase(), String(pattern).toLowerCase()) ? 1 : 0;
  });
  database.function("rowgate_like_exactly", pure, (text: unknown, pattern: unknown) =>
    text === null || pattern === null ? null : matchesLike(String(text), String(pattern)) ? 1 : 0,
  );
  database.function(
    "rowgate_head",
    pure,
    (pattern: unknown) => heads.mixed.exec(String(pattern))![0],
  );
  database.function("rowgate_without_accents", pure, (text: unknown) =>
    text === null ? null : withoutAccents(String(text)),
  );
  database.function("rowgate_decimal_key", pure, (value: unknown) =>
    value === null ? null : decimalKey(String(value)),
  );
  database.function("rowgate_decimal_add", pure, (left: unknown, right: unknown) => {
    if (left === null || right === null) return null;
    const number = normalDecimal(String(left));
    if (number === null) throw new Error("The column contains a text that is not a number");
    return addDecimals(number, String(right));
  });
  database.function("rowgate_key", pure, (type: unknown, unit: unknown, value: unknown) =>
    value === null ? null : keyOf(type as FormType, value, unit as Unit),
  );
  database.function("rowgate_text", pure, (type: unknown, unit: unknown, value: unknown) =>
    value === null ? null : readers[type as FormType](value, unit as Unit),
  );
  const exact = { ...pure, safeIntegers: true } as const;
  database.function("rowgate_json_key", exact, (value: unknown) =>
    value === null ? null : jsonKey(storedJson(value)),
  );
  database.function("rowgate_json_holds", exact, (whole: unknown, part: unknown) =>
    whole === null ? null : holdsPart(storedJson(whole), storedJson(part)) ? 1 : 0,
  );
  database.function("rowgate_number", pure, numberOf);
  database.function("rowgate_float_text", pure, (value: unknown) =>
    typeof value === "number" ? String(value) : value,
  );
  database.function("rowgate_digits", pure, (value: unknown) =>
    typeof value === "number" ? normalDecimal(String(value)) : value,
  );
  database.function("rowgate_bytes", pure, (value: unknown) =>
    typeof value === "string" ? Buffer.from(value, "base64") : value,
  );
  const stamp = (id: unknown, now: unknown, old: unknown, otherId: unknown, other: unknown) =>
    forms.stamped(now, { id: String(id), value: old }, { id: String(otherId), value: other });
  database.function("rowgate_stamp", pure, stamp);
  registerAggregates(database);
  registerFormulas(database);
}

/** The value to compare with a stored number. What is none stays a text: unequal to every number, and above all. */
function numberOf(value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (value === "true" || value === "false") return value === "true" ? 1n : 0n;
  const digits = normalDecimal(value.trim());
  if (digits === null) return value;
  const number = Number(digits);
  if (Number.isSafeInteger(number) || digits.includes(".")) return number;
  const integer = BigInt(digits);
  return BigInt.asIntN(64, integer) === integer ? integer : number;
}

/**
 * SQL's LIKE with a backslash as escape character. Backtracks only to the last `%`. What stands between two of them is
 * found by the runtime's own search, unless it has a `_`: then a hostile pattern takes the product of the two lengths.
 */
export function matchesLike(text: string, pattern: string): boolean {
  const pieces = piecesOf(pattern);
  const last = pieces.pop()!;
  const [first] = pieces;
  // Without a `%`, the only piece is the whole text.
  if (first === undefined) return endAt(last, text, 0) === text.length;
  let at = endAt(first, text, 0);
  for (const piece of pieces.slice(1)) {
    if (at < 0) return false;
    at = endBehind(piece, text, at);
  }
  const start = startOfEnd(last, text);
  return at >= 0 && start >= at && endAt(last, text, start) === text.length;
}

/** What stands between the `%` of a pattern: texts, and null for each `_`. */
type Piece = readonly (string | null)[];

function piecesOf(pattern: string): Piece[] {
  const pieces: (string | null)[][] = [[]];
  for (const [item, text] of pattern.matchAll(/%|_|((?:[^\\%_]|\\[^])+|\\$)/gu)) {
    if (item === "%") pieces.push([]);
    else pieces.at(-1)!.push(text === undefined ? null : text.replace(/\\([^])/gu, "$1"));
  }
  return pieces;
}

/** Where the piece ends that begins at `at`; -1: it does not stand there. */
function endAt(piece: Piece, text: string, at: number): number {
  let end = at;
  for (const item of piece) {
    if (item === null ? end >= text.length : !text.startsWith(item, end)) return -1;
    end += item === null ? lengthAt(text, end) : item.length;
  }
  return end;
}

/** Where the first such piece ends from `from` on; -1: there is none. */
function endBehind(piece: Piece, text: string, from: number): number {
  const [only] = piece;
  if (piece.length === 1 && typeof only === "string") {
    const at = text.indexOf(only, from);
    return at < 0 ? -1 : at + only.length;
  }
  for (let at = from; at <= text.length; at += lengthAt(text, at)) {
    const end = endAt(piece, text, at);
    if (end >= 0) return end;
  }
  return -1;
}

/** Where a piece at the end of the text begins; -1: the text is too short. */
function startOfEnd(piece: Piece, text: string): number {
  let at = text.length;
  for (const item of piece.toReversed()) {
    if (item !== null) at -= item.length;
    else at -= at >= 2 && lengthAt(text, at - 2) === 2 ? 2 : 1;
  }
  return at;
}

/** In UTF-16 units. */
const lengthAt = (text: string, at: number): number =>
  (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;

/** A text that sorts (by code unit) as the number does; null for a text that is not a number. */
export function decimalKey(text: string): string | null {
  const decimal = normalDecimal(text);
  if (decimal === null) return null;
  if (decimal === "0") return "1";
  const negative = decimal.startsWith("-");
  const [whole = "", fraction = ""] = (negative ? decimal.slice(1) : decimal).split(".");
  const digits = (whole + fraction).replace(/^0+/, "");
  // The lookbehind prevents a long inner run of zeros from being tried at each of its digits.
  const significant = digits.replace(/(?<!0)0+$/, "");
  const exponent = String(exponentBias + digits.length - fraction.length).padStart(6, "0");
  if (!negative) return `2${exponent}${significant}`;
  // Negative numbers sort in reverse: every digit is inverted, and more digits come first.
  const turned = `${exponent}${significant}`.replace(/\d/g, (digit) => String(9 - Number(digit)));
  return `0${turned}~`;
}

const exponentBias = 500_000;
