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
  database.function("rowgate_json_key", pure, (value: unknown) =>
    value === null ? null : jsonKey(storedJson(value)),
  );
  database.function("rowgate_json_holds", pure, (whole: unknown, part: unknown) =>
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
 * SQL's LIKE with a backslash as escape character. Backtracks only to the last `%`, so that a hostile pattern takes at
 * most the product of the two lengths.
 */
export function matchesLike(text: string, pattern: string): boolean {
  const characters = [...text];
  const wanted = patternItems(pattern);
  let at = 0;
  let item = 0;
  let restartItem = -1;
  let restartAt = 0;
  while (at < characters.length) {
    const expected = wanted[item];
    if (expected === anyText) {
      restartItem = ++item;
      restartAt = at;
    } else if (expected === anyCharacter || expected === characters[at]) {
      at++;
      item++;
    } else if (restartItem >= 0) {
      item = restartItem;
      at = ++restartAt;
    } else {
      return false;
    }
  }
  while (wanted[item] === anyText) item++;
  return item === wanted.length;
}

const anyText = Symbol("%");
const anyCharacter = Symbol("_");

function patternItems(pattern: string): (string | symbol)[] {
  const items: (string | symbol)[] = [];
  let escaped = false;
  for (const character of pattern) {
    if (escaped || (character !== "\\" && character !== "%" && character !== "_")) {
      items.push(character);
      escaped = false;
    } else if (character === "\\") {
      escaped = true;
    } else {
      items.push(character === "%" ? anyText : anyCharacter);
    }
  }
  return items;
}

/** A text that sorts (by code unit) as the number does; null for a text that is not a number. */
export function decimalKey(text: string): string | null {
  const decimal = normalDecimal(text);
  if (decimal === null) return null;
  if (decimal === "0") return "1";
  const negative = decimal.startsWith("-");
  const [whole = "", fraction = ""] = (negative ? decimal.slice(1) : decimal).split(".");
  const digits = (whole + fraction).replace(/^0+/, "");
  const exponent = String(exponentBias + digits.length - fraction.length).padStart(6, "0");
  if (!negative) return `2${exponent}${digits.replace(/0+$/, "")}`;
  // Negative numbers sort in reverse: every digit is inverted, and more digits come first.
  const turned = `${exponent}${digits.replace(/0+$/, "")}`.replace(/\d/g, (digit) =>
    String(9 - Number(digit)),
  );
  return `0${turned}~`;
}

const exponentBias = 500_000;
