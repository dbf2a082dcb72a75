/**
 * From a cell to what the rules take for its column: spreadsheets have four kinds of values, and people write the rest as they see it.
 * What is not obvious stays as it is, so that the rules refuse it with their own words. Called by `jobs/import/judge-rows.ts`.
 */
import type { Column } from "../column.ts";
import { readTimestamp } from "../values/formats.ts";
import { headingKey } from "./import-columns.ts";
import { parseJson } from "../json.ts";
import type { Cell } from "../ports.ts";

type Value = string | number | boolean;

/** Undefined: the cell is empty. `words`: texts that stand for true and false, in lower case. */
export function fieldValue(
  column: Column,
  cell: Exclude<Cell, { error: string }>,
  words: ReadonlyMap<string, boolean> | undefined,
): unknown {
  if (cell === null || cell === "") return undefined;
  if (column.type === "text" || column.type === "other") return textOf(cell);
  const value = typeof cell === "string" ? cell.trim() : cell;
  if (value === "") return undefined;
  switch (column.type) {
    case "boolean":
      return words?.get(headingKey(String(value))) ?? value;
    case "decimal":
      return typeof value === "number" ? withinScale(value, column.scale) : value;
    case "date":
      return dateOf(value);
    case "json":
    case "array":
      return typeof value === "string" ? jsonOf(value) : value;
    default:
      return value;
  }
}

/** The text that Excel shows of it. */
function textOf(value: Value): Value {
  if (typeof value === "boolean") return value ? "TRUE" : "FALSE";
  return typeof value === "number" ? digitsOf(value) : value;
}

/** All digits of a whole number; others may have an exponent, which no text column takes. */
const digitsOf = (value: number): Value =>
  Number.isSafeInteger(value) || !Number.isInteger(value)
    ? String(value)
    : BigInt(value).toString();

/** Excel counts with fifteen digits and stores seventeen: 0.1 + 0.2 is 0.30000000000000004 in the file. */
function withinScale(value: number, scale: number | null): number {
  if (scale === null) return value;
  const unit = 10 ** scale;
  // Most numbers need no look at their digits, which takes longer than all the rest.
  if (Math.round(value * unit) / unit === value) return value;
  const digits = /\.(\d+)$/.exec(String(value))?.[1]?.length ?? 0;
  return digits > scale ? Number(value.toPrecision(15)) : value;
}

/** A date with a time of midnight is the date. */
function dateOf(value: Value): Value {
  if (typeof value !== "string" || value.length === 10) return value;
  const iso = readTimestamp(value)?.iso;
  return iso?.endsWith("T00:00:00.000Z") ? iso.slice(0, 10) : value;
}

/** A text that is no JSON is taken as it stands; the column decides about it. */
function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
