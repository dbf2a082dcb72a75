/** Compares JSON that SQLite keeps as text by its meaning: whole values, and parts of values. Pure functions. */
import { normalDecimal } from "../../../core/values/decimal.ts";
import { ExactNumber, type Json } from "../../../core/values/json.ts";
import { showJson } from "../../../core/values/types/json-types.ts";

/**
 * What answers show of a stored value, whose integers are BigInts: a text that is not JSON stays a text. Never called
 * with null.
 */
export const storedJson = (raw: unknown): Json =>
  typeof raw === "string" || typeof raw === "bigint" ? showJson(String(raw)) : (raw as Json);

/** The same text for all ways to write a value: no spaces, members in order, numbers by their digits. */
export function jsonKey(value: Json): string {
  if (isNumber(value)) return normalDecimal(String(value)) ?? String(value);
  if (Array.isArray(value)) return `[${value.map(jsonKey).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.keys(value)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${jsonKey(value[name]!)}`);
  return `{${members.join(",")}}`;
}

/** Whether the part is the value itself or within it, or within an element of it: what `@>` of PostgreSQL means. */
export const holdsPart = (whole: Json, part: Json): boolean =>
  isWithin(part, whole) || (Array.isArray(whole) && whole.some((one) => isWithin(part, one)));

/** An array is within one that has each of its elements, an object within one that has each of its members. */
function isWithin(part: Json, whole: Json): boolean {
  if (isSingle(part) || isSingle(whole)) return isSingle(part) && jsonKey(part) === jsonKey(whole);
  if (Array.isArray(part)) return Array.isArray(whole) && areWithin(part, whole);
  if (Array.isArray(whole)) return false;
  return Object.entries(part).every(
    ([name, one]) => Object.hasOwn(whole, name) && isWithin(one, whole[name]!),
  );
}

/** Single values are looked up: comparing each with each takes minutes for two long lists. */
function areWithin(parts: readonly Json[], whole: readonly Json[]): boolean {
  const singles = new Set(whole.filter(isSingle).map(jsonKey));
  return parts.every((one) =>
    isSingle(one) ? singles.has(jsonKey(one)) : whole.some((other) => isWithin(one, other)),
  );
}

const isSingle = (value: Json): value is null | boolean | number | string =>
  value === null || typeof value !== "object" || isNumber(value);

const isNumber = (value: unknown): boolean =>
  typeof value === "number" || value instanceof ExactNumber;
