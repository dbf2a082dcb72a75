/**
 * Reads parameters of the grid, sent as JSON or as a form. In a form every value is a string, and null, false and empty
 * lists cannot be expressed.
 */
import { AppError, invalidPayload } from "../values/errors.ts";
import { isObject } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import { readWholeNumber } from "../lists/page.ts";
import { patternText } from "../query/where.ts";

/** An object of the request: own properties are what the client sent. */
export type Sent = Readonly<Record<string, unknown>>;

/** For the grid, every invalid parameter is an invalid payload: converts Invalid parameter into Invalid payload. */
export function asPayload<Value>(parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    if (error instanceof AppError && error.kind === "invalidParameter") {
      throw invalidPayload(error.message);
    }
    throw error;
  }
}

/** A number, or a text of digits. Rejects when it is out of range, or missing where there is no default. */
export function wholeParameter(
  sent: Sent,
  name: string,
  { min, max, otherwise }: { min: number; max: number; otherwise?: number },
): number {
  const number = readWholeNumber(Object.hasOwn(sent, name) ? sent[name] : otherwise);
  if (number !== null && number >= min && number <= max) return number;
  const range =
    min < 0 ? "" : max > limits.gridLengthMax ? ` from ${min}` : ` from ${min} to ${max}`;
  throw invalidPayload(`${name} must be a whole number${range}`);
}

/** Absent, null or empty, as forms say it: no members. */
export function listOf(value: unknown, name: string): unknown[] {
  if (isBlank(value)) return [];
  if (!Array.isArray(value)) throw invalidPayload(`${name} must be an array`);
  return value;
}

/** An array, or an object, which the library sends in place of some arrays; by name or by place. */
export function membersOf(value: unknown, name: string): ReadonlyMap<string, unknown> {
  if (isBlank(value)) return new Map();
  if (!Array.isArray(value) && !isObject(value)) throw invalidPayload(`${name} must be an object`);
  return new Map(Object.entries(value));
}

/** A text to search for; empty when there is none. `subject` begins the message. */
export const searchText = (value: unknown, subject: string): string =>
  value === undefined || value === null ? "" : asPayload(() => patternText(value, subject));

export const isBlank = (value: unknown): value is undefined | null | "" =>
  value === undefined || value === null || value === "";

export const isFalse = (value: unknown): boolean => value === false || value === "false";

export const isTrue = (value: unknown): boolean => value === true || value === "true";
