/**
 * Parses a request's JSON without loss: a number that a double cannot represent keeps its digits as an `ExactNumber`,
 * so that a bigint or decimal column stores exactly what was sent.
 */
import { invalidPayload } from "./errors.ts";
import { limits } from "./limits.ts";

/** A JSON value. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** ES2026; the types of this version of TypeScript do not have it. */
const { rawJSON: rawJson } = JSON as { readonly rawJSON?: (text: string) => unknown };

/** A JSON number whose digits a double would change (`9007199254740993`, `0.12345678901234567890`, `1e999`). */
export class ExactNumber {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }

  /** So that `JSON.stringify` writes the digits as they are; as a text where the runtime cannot. */
  toJSON(): unknown {
    return rawJson === undefined ? this.source : rawJson(this.source);
  }

  /** So that an operator's own code can read it: `String(value)` is exact, `Number(value)` the nearest double. */
  toString(): string {
    return this.source;
  }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A deep copy of JSON values, `ExactNumber`s among them. */
export function copyOfJson<Value>(value: Value): Value;
export function copyOfJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOfJson);
  if (!isObject(value) || value instanceof ExactNumber) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, copyOfJson(member)]),
  );
}

/** Equal for equal JSON values: members in the order of their names. */
export function canonicalJson(value: unknown): string {
  if (value instanceof ExactNumber) return value.source;
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value ?? null);
  const members = Object.keys(value)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`);
  return `{${members.join(",")}}`;
}

/**
 * The value of a JSON text. Numbers are numbers or `ExactNumber`s.
 * Rejects (400 Invalid payload) what is not JSON, nests deeper than `limits.jsonDepthMax`, or holds a NUL character.
 */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidPayload("The body is not valid JSON");
  }
  const { depth, mayLoseDigits } = scan(text);
  if (depth > limits.jsonDepthMax)
    throw invalidPayload(`The body is nested deeper than ${limits.jsonDepthMax} levels`);
  if (mayLoseDigits) value = JSON.parse(text, keepDigits);
  if (text.includes("\\u0000")) refuseNul(value);
  return value;
}

/** The value of a JSON text that the database or the service itself wrote. Numbers are numbers or `ExactNumber`s. */
export const parseOwnJson = (text: string): Json => {
  const value = JSON.parse(text) as Json;
  return scan(text).mayLoseDigits ? JSON.parse(text, keepDigits) : value;
};

interface Scanned {
  readonly depth: number;
  /** A number has sixteen digits (a point among them), or an exponent: only then can a double differ from its text. */
  readonly mayLoseDigits: boolean;
}

/** Looks at the characters of a JSON text, which is 20 times as fast as walking its value. */
function scan(text: string): Scanned {
  let mayLoseDigits = false;
  let level = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === quote) at = endOfText(text, at);
    else if (isDigit(unit)) {
      const end = endOfDigits(text, at);
      if (end - at >= 16 || isExponent(text.charCodeAt(end))) mayLoseDigits = true;
      at = end - 1;
    } else if (unit === 123 || unit === 91) {
      if (++level > depth) depth = level;
    } else if (unit === 125 || unit === 93) level--;
  }
  return { depth, mayLoseDigits };
}

const isDigit = (unit: number): boolean => unit >= 48 && unit <= 57;
const isExponent = (unit: number): boolean => unit === 101 || unit === 69;

/** The place behind digits and points. */
function endOfDigits(text: string, from: number): number {
  let at = from;
  for (let unit; isDigit((unit = text.charCodeAt(at))) || unit === 46;) at++;
  return at;
}

const quote = 34;
const backslash = 92;

/** The place of the quotation mark that ends the text that begins at `from`. */
function endOfText(text: string, from: number): number {
  let at = from + 1;
  for (let unit; (unit = text.charCodeAt(at)) !== quote; at++) if (unit === backslash) at++;
  return at;
}

function refuseNul(value: unknown): void {
  if (typeof value === "string" && value.includes("\0"))
    throw invalidPayload("A string contains a NUL character");
  if (value === null || typeof value !== "object" || value instanceof ExactNumber) return;
  for (const [name, member] of Object.entries(value)) {
    if (name.includes("\0")) throw invalidPayload("A name contains a NUL character");
    refuseNul(member);
  }
}

/** The third argument is the text of a primitive (ES2026 `JSON.parse` source text access). */
function keepDigits(_name: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || context?.source === undefined) return value;
  return sameNumber(context.source, String(value)) ? value : new ExactNumber(context.source);
}

/** Whether two decimal texts, with or without exponent, name the same number. */
function sameNumber(left: string, right: string): boolean {
  if (left === right) return true;
  const a = parts(left);
  const b = parts(right);
  return (
    a !== null &&
    b !== null &&
    a.digits === b.digits &&
    (a.digits === "" || a.exponent === b.exponent)
  );
}

/** Sign and digits without outer zeros, and the power of ten of the last digit. */
function parts(text: string): { digits: string; exponent: number } | null {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (!match) return null;
  const fraction = match[3] ?? "";
  const all = `${match[2]}${fraction}`.replace(/^0+/, "");
  // The lookbehind prevents a long inner run of zeros from being tried at each of its digits.
  const digits = all.replace(/(?<!0)0+$/, "");
  const exponent = Number(match[4] ?? 0) - fraction.length + (all.length - digits.length);
  return { digits: digits === "" ? "" : `${match[1]}${digits}`, exponent };
}

/**
 * Where a JSON value contains a text or a member name that is not valid Unicode: `lines[0].note`, or `A name in
 * lines[0]`. Null where every text is valid. `path` is the place of the value itself; empty for a request's body.
 */
export function illFormedPlace(value: unknown, path = ""): string | null {
  const found = illFormedIn(value);
  if (found === null) return null;
  const place = found.steps.reduceRight(stepPath, path);
  return found.isName ? (place === "" ? "A name" : `A name in ${place}`) : place;
}

/** `steps`: indexes and names, from the innermost outwards. Paths are built for the result only, not per member. */
function illFormedIn(value: unknown): { steps: (string | number)[]; isName: boolean } | null {
  if (typeof value === "string") return value.isWellFormed() ? null : { steps: [], isName: false };
  const isList = Array.isArray(value);
  if (!isList && (!isObject(value) || value instanceof ExactNumber)) return null;
  for (const step of isList ? value.keys() : Object.keys(value)) {
    if (typeof step === "string" && !step.isWellFormed()) return { steps: [], isName: true };
    const found = illFormedIn((value as Record<string | number, unknown>)[step]);
    if (found !== null) {
      found.steps.push(step);
      return found;
    }
  }
  return null;
}

function stepPath(path: string, step: string | number): string {
  if (typeof step === "number") return `${path}[${step}]`;
  if (!/^\w+$/.test(step)) return `${path}[${JSON.stringify(step)}]`;
  return path === "" ? step : `${path}.${step}`;
}
