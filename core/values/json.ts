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

/** JSON that is a text already, as a member of an answer; `jsonOf` writes it as it is. */
export class ReadyJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** As `JSON.stringify` of a value, or of an object of which members are a `ReadyJson`. */
export function jsonOf(value: unknown): string {
  if (!isObject(value) || !Object.values(value).some(isText)) return JSON.stringify(value);
  // By adding, which copies no text; to join would.
  let members = "";
  for (const [name, member] of Object.entries(value)) {
    const json = isText(member) ? member.text : JSON.stringify(member);
    if (json !== undefined)
      members += `${members === "" ? "" : ","}${JSON.stringify(name)}:${json}`;
  }
  return `{${members}}`;
}

const isText = (value: unknown): value is ReadyJson => value instanceof ReadyJson;

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Sixteen digits in a row (a point among them), or an exponent: only then can a double differ from its text. */
const mayLoseDigits = /\d[\d.]{15}|\d[eE][+-]?\d/;

/**
 * The value of a JSON text. Numbers are numbers or `ExactNumber`s.
 * Rejects (400 Invalid payload) what is not JSON, nests deeper than `limits.jsonDepthMax`, or holds a NUL character.
 */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = mayLoseDigits.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
  } catch {
    throw invalidPayload("The body is not valid JSON");
  }
  if (isSuspect(text)) inspect(value, 1);
  return value;
}

/** The value of a JSON text that the database or the service itself wrote. Numbers are numbers or `ExactNumber`s. */
export const parseOwnJson = (text: string): Json =>
  mayLoseDigits.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);

/** Most bodies are shallow and contain no NUL, so a check of the text avoids walking the value. */
function isSuspect(text: string): boolean {
  if (text.includes("\\u0000")) return true;
  let openings = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if ((unit === 123 || unit === 91) && ++openings > limits.jsonDepthMax) return true;
  }
  return false;
}

function inspect(value: unknown, depth: number): void {
  if (typeof value === "string") {
    if (value.includes("\0")) throw invalidPayload("A string contains a NUL character");
    return;
  }
  if (value === null || typeof value !== "object" || value instanceof ExactNumber) return;
  if (depth > limits.jsonDepthMax)
    throw invalidPayload(`The body is nested deeper than ${limits.jsonDepthMax} levels`);
  for (const [name, member] of Object.entries(value)) {
    if (name.includes("\0")) throw invalidPayload("A name contains a NUL character");
    inspect(member, depth + 1);
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
  // Looking back keeps a long inner run of zeros from being tried at each of its digits.
  const digits = all.replace(/(?<!0)0+$/, "");
  const exponent = Number(match[4] ?? 0) - fraction.length + (all.length - digits.length);
  return { digits: digits === "" ? "" : `${match[1]}${digits}`, exponent };
}

/**
 * Where a JSON value holds a text, or a member's name, that is not valid Unicode: `lines[0].note`, or `A name in lines[0]`. Null where
 * every text is valid. `path` is the place of the value itself; empty for a request's body.
 */
export function illFormedPlace(value: unknown, path = ""): string | null {
  if (typeof value === "string") return value.isWellFormed() ? null : path;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const place = illFormedPlace(item, `${path}[${index}]`);
      if (place !== null) return place;
    }
    return null;
  }
  if (!isObject(value) || value instanceof ExactNumber) return null;
  for (const [name, member] of Object.entries(value)) {
    if (!name.isWellFormed()) return path === "" ? "A name" : `A name in ${path}`;
    const place = illFormedPlace(member, memberPath(path, name));
    if (place !== null) return place;
  }
  return null;
}

function memberPath(path: string, name: string): string {
  if (!/^\w+$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === "" ? name : `${path}.${name}`;
}
