/** JSON values of any form: they go to the database as JSON text. */
import type { Column } from "./column.ts";
import { normalDecimal } from "../decimal.ts";
import { ExactNumber, type Json, parseJson, parseOwnJson } from "../json.ts";
import { textFault } from "../text.ts";
import {
  type Accepted,
  accepted,
  asItIs,
  defineType,
  type FilledCell,
  opaque,
  refused,
  trimmedCell,
} from "./type-definition.ts";

export const jsonType = defineType(opaque, {
  accept: acceptJson,
  shownSchema: () => ({}),
  acceptedSchema: () => ({}),
  ruleNames: ["json"],
  fromCell: trimmedCell(jsonOfCell),
  cellForm: () => ({ words: "JSON", format: null, width: 20 }),
  inTables: jsonInTables,
  isCompared: false,
  fromMember: asItIs,
});

/**
 * The value of a JSON text; a number in it that a double cannot hold is an `ExactNumber`. A text that is not JSON is
 * shown as it is.
 */
export function showJson(text: string): Json {
  try {
    return parseOwnJson(text);
  } catch {
    return text;
  }
}

/** Any JSON value that every database can store. */
export function acceptJson(column: Column, value: unknown): Accepted {
  const { range, wholeRange } = column;
  const isWhole = value instanceof ExactNumber;
  const fault = jsonFault(value, isWhole ? (wholeRange ?? range) : range);
  return fault === null ? accepted(JSON.stringify(value)) : refused(fault);
}

/** Why a value cannot be stored as JSON on every database; null if it can. */
function jsonFault(value: unknown, range: Column["range"]): string | null {
  if (value === null || typeof value === "boolean") return null;
  if (typeof value === "string") return textFault(value);
  if (typeof value === "number") return Number.isFinite(value) ? null : "must be a JSON value";
  if (value instanceof ExactNumber)
    return isKept(value, range) ? null : "holds a number that cannot be kept exactly";
  if (typeof value !== "object") return "must be a JSON value";
  if (Array.isArray(value)) {
    for (const item of value) {
      const fault = jsonFault(item, range);
      if (fault !== null) return fault;
    }
    return null;
  }
  for (const [name, member] of Object.entries(value)) {
    const fault = textFault(name) ?? jsonFault(member, range);
    if (fault !== null) return fault;
  }
  return null;
}

/**
 * If there is a range, only integers within it keep more digits than a double does. To the databases, a number with a
 * fraction or an exponent is none, whatever it amounts to.
 */
function isKept({ source }: ExactNumber, range: Column["range"]): boolean {
  if (range === null) return normalDecimal(source) !== null;
  if (!/^-?\d+$/.test(source)) return false;
  const integer = BigInt(source);
  return integer >= range.min && integer <= range.max;
}

/** A text that an import would read as something else is in quotes. */
function jsonInTables(shown: Json): Json {
  if (typeof shown !== "string") return shown;
  const isKept = shown !== "" && shown === shown.trim() && jsonOfCell(shown) === shown;
  return isKept ? shown : JSON.stringify(shown);
}

/** A text that is not JSON is accepted as it is; the column decides about it. */
function jsonOfCell(cell: FilledCell): unknown {
  if (typeof cell !== "string") return cell;
  try {
    return parseJson(cell);
  } catch {
    return cell;
  }
}
