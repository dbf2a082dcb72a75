/**
 * Reads parameters of the grid, sent as JSON or as a form. In a form every value is a string, and null, false and empty
 * lists cannot be expressed.
 */
import { type Grammar, wholeNumber } from "../grammar/grammar.ts";
import { AppError, invalidPayload } from "../values/errors.ts";
import { isObject } from "../values/json.ts";
import { orNull } from "../values/json-schema.ts";
import { limits } from "../values/limits.ts";
import { patternText } from "../query/comparisons.ts";

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

/** The same for a grammar. */
export const inPayload = <T>(grammar: Grammar<T>): Grammar<T> => ({
  ...grammar,
  read: (sent) => asPayload(() => grammar.read(sent)),
});

/** A number, or a text of digits. */
export function wholeParameter(
  name: string,
  { min, max }: { min: number; max: number },
): Grammar<number> {
  const range =
    min < 0 ? "" : max > limits.gridLengthMax ? ` from ${min}` : ` from ${min} to ${max}`;
  return wholeNumber({ min, max, fromText: true }, () =>
    invalidPayload(`${name} must be a whole number${range}`),
  );
}

/** `otherwise` if the parameter is absent, null or empty, as in forms. */
export const blankOr = <T, U>(grammar: Grammar<T>, otherwise: U): Grammar<T | U> => ({
  ...grammar,
  read: (sent) => (isBlank(sent) ? otherwise : grammar.read(sent)),
  schema: () => ({ anyOf: [orNull(grammar.schema()), { const: "" }] }),
});

/** Also reads a list that a form sends with gaps, which arrives as an object by place: `listFrom` makes a list of it. */
export const maybeByPlace = <T>(
  lists: Grammar<T>,
  listFrom: (sent: Sent) => unknown[],
): Grammar<T> => ({
  ...lists,
  read: (sent) => lists.read(isByPlace(sent) ? listFrom(sent) : sent),
});

/** Whether all names are places in a list. */
const isByPlace = (value: unknown): value is Sent =>
  isObject(value) && /^\d+(,\d+)*$/.test(Object.keys(value).join());

/** Absent, null or empty, as in forms: no members. */
export function listOf(value: unknown, name: string): unknown[] {
  if (isBlank(value)) return [];
  if (!Array.isArray(value)) throw notAList(name)();
  return value;
}

export const notAList = (name: string) => () => invalidPayload(`${name} must be an array`);

/** A list by place. The library sends an object in place of some lists; its names must be places, too. */
export function placesOf(value: unknown, name: string): ReadonlyMap<string, unknown> {
  const members = membersOf(value, name);
  if (members.size > 0 && isObject(value) && !isByPlace(value)) throw notAList(name)();
  return members;
}

/** An array, or an object; by name or by place. */
export function membersOf(value: unknown, name: string): ReadonlyMap<string, unknown> {
  if (isBlank(value)) return new Map();
  if (!Array.isArray(value) && !isObject(value)) throw invalidPayload(`${name} must be an object`);
  return new Map(Object.entries(value));
}

/** A text to search for; empty when there is none. `subject` begins the message. */
export const optionalText = (value: unknown, subject: string): string =>
  value === undefined || value === null ? "" : asPayload(() => patternText(value, subject));

export const isBlank = (value: unknown): value is undefined | null | "" =>
  value === undefined || value === null || value === "";

export const isFalse = (value: unknown): boolean => value === false || value === "false";

export const isTrue = (value: unknown): boolean => value === true || value === "true";
