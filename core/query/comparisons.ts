/** Comparisons of one column in a condition: the operators by name, and the conversion of a client's value. */
import { closest } from "../values/closest.ts";
import type { Column, Columns } from "../values/types/column.ts";
import { type AppError, invalidField, invalidParameter, invalidPayload } from "../values/errors.ts";
import { limits } from "../values/limits.ts";
import type { Comparison, Condition } from "./statement.ts";
import type { Scalar } from "../values/scalar.ts";
import { isLonger } from "../values/text.ts";
import { accept, unlimited } from "../values/types/accept.ts";
import { columnTypes } from "../values/types/column-types.ts";
import { floorOf } from "../values/types/numbers.ts";

/** The column with that name. `place`: where the name occurs, for the message. */
export function columnOf(name: string, columns: Columns, place: string): Column {
  const column = columns.get(name);
  if (column) return column;
  throw unknownColumn(name, columns, place);
}

export const unknownColumn = (name: string, columns: Columns, place: string): AppError =>
  unknownName("column", name, { known: columns.keys(), place });

export const unknownRelation = (name: string, known: Iterable<string>, place: string): AppError =>
  unknownName("relation", name, { known, place });

function unknownName(
  what: string,
  name: string,
  { known, place }: { known: Iterable<string>; place: string },
): AppError {
  const near = closest(name, known);
  return invalidField(
    `Unknown ${what} "${name.slice(0, 100)}" in ${place}${near ? `; did you mean "${near}"?` : ""}`,
  );
}

/**
 * The value in the form in which its column is compared for equality; values that hold others, as a whole. It may exceed
 * the column's own length and number of digits.
 */
export function comparand(column: Column, value: unknown): Scalar {
  const { isCompared, fromMember } = columnTypes[column.type];
  if (!isCompared && fromMember === null) throw notCompared(column);
  return acceptedOf(column, value);
}

/** Says what conditions take of a column that they do not compare with values in every way. */
function notCompared({ name, type }: Column): AppError {
  const holds =
    columnTypes[type].fromMember === null
      ? "holds files: it takes"
      : "holds other values: it takes =, !=, CONTAINS,";
  return invalidParameter(`Column "${name}" ${holds} IS NULL and IS NOT NULL`);
}

function acceptedOf(column: Column, value: unknown): Scalar {
  const accepted = accept(unlimited(column), value);
  if (!accepted.ok)
    throw invalidParameter(`The value for column "${column.name}" ${accepted.message}`);
  return accepted.value;
}

/** Whether `where` accepts the value for this column; otherwise no row can have it. */
export function isComparable(column: Column, value: unknown): boolean {
  const { isCompared, arithmetic } = columnTypes[column.type];
  if (!isCompared) return false;
  return arithmetic?.isWhole ? floorOf(value) !== null : accept(unlimited(column), value).ok;
}

/** Whether the first of two values that `isComparable` takes is the greater one. */
export function comesAfter(column: Column, left: unknown, right: unknown): boolean {
  const [a, b] = [placeOf(column, left), placeOf(column, right)];
  return (
    columnTypes[column.type].isAbove(a.value, b.value) ||
    (a.value === b.value && b.isExact && !a.isExact)
  );
}

/** A value in a comparison: itself, or for a column of integers the integer below it. */
interface Place {
  readonly value: Scalar;
  /** False: the value is between this integer and the next, so no row has it. */
  readonly isExact: boolean;
}

/** Like comparand, but a whole-number column also takes numbers with a fraction, and of any size. */
function placeOf(column: Column, value: unknown): Place {
  if (!columnTypes[column.type].isCompared) throw notCompared(column);
  const isWhole = columnTypes[column.type].arithmetic?.isWhole === true && !column.isSampled;
  const place = isWhole ? floorOf(value) : null;
  return place === null
    ? { value: comparand(column, value), isExact: true }
    : { value: place.floor, isExact: place.isExact };
}

/** Whether the column can store the integer. If not, no row has it, and some engines reject the comparison. */
export const mayHold = (column: Column, value: Scalar): boolean => sideOf(column, value) === 0;

/** What an operator takes: a value or null, a value, two values, a list (with nulls), a pattern, a member, nothing. */
export type Operand = "any" | "value" | "pair" | "list" | "pattern" | "member" | "none";

export interface Operator {
  operand: Operand;
  read(column: Column, value: unknown, sensitive: boolean): Condition;
}

/** Names of the operators that are given this. */
export const operatorsWith = (operand: Operand): readonly string[] =>
  [...operators].filter(([, one]) => one.operand === operand).map(([name]) => name);

export const operators: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ["=", equality("=")],
  ["!=", equality("!=")],
  ["<>", equality("!=")],
  [">", ordering(">")],
  ["<", ordering("<")],
  [">=", ordering(">=")],
  ["<=", ordering("<=")],
  ["LIKE", like(false)],
  ["NOT LIKE", like(true)],
  [
    "ILIKE",
    { operand: "pattern", read: (column, value) => likeCondition(column, value, false, true) },
  ],
  ["CONTAINS", { operand: "member", read: holding }],
  ["BETWEEN", between(false)],
  ["NOT BETWEEN", between(true)],
  ["IN", membership(false)],
  ["NOT IN", membership(true)],
  ["IS NULL", { operand: "none", read: (column) => ({ kind: "null", column, negated: false }) }],
  ["IS NOT NULL", { operand: "none", read: (column) => ({ kind: "null", column, negated: true }) }],
]);

function equality(operator: "=" | "!="): Operator {
  return {
    operand: "any",
    read: (column, value) =>
      value === null
        ? { kind: "null", column, negated: operator === "!=" }
        : equalTo(column, operator, value),
  };
}

/** `column = value`, or `!=`; the value is not null. Values that hold others are compared as a whole. */
export const equalTo = (column: Column, operator: "=" | "!=", value: unknown): Condition =>
  columnTypes[column.type].fromMember === null
    ? compare(column, operator, value)
    : { kind: "compare", column, operator, value: comparand(column, value) };

function holding(column: Column, value: unknown): Condition {
  const { isCompared, fromMember } = columnTypes[column.type];
  if (fromMember === null && !isCompared) throw notCompared(column);
  if (fromMember === null)
    throw invalidParameter(
      `Column "${column.name}" holds no other values, as CONTAINS needs; LIKE finds a part of a text`,
    );
  if (value === null || Array.isArray(value))
    throw invalidPayload("CONTAINS needs one element: a text, a number, true, false or an object");
  return { kind: "member", column, value: acceptedOf(column, fromMember(value)) };
}

function ordering(operator: Comparison): Operator {
  return {
    operand: "value",
    read(column, value) {
      if (value === null)
        throw invalidPayload(`Operator ${operator} needs a value other than null`);
      return compare(column, operator, value);
    },
  };
}

/** An integer that the column can never hold cannot be bound on every engine: the outcome is known without it. */
function compare(column: Column, operator: Comparison, sent: unknown): Condition {
  const { value, isExact } = placeOf(column, sent);
  if (!isExact && operator === "=") return nothing;
  if (!isExact && operator === "!=") return isThere(column);
  const side = sideOf(column, value);
  if (side !== 0) {
    const holds = operator === "!=" || operator.startsWith(side > 0 ? "<" : ">");
    return holds ? isThere(column) : nothing;
  }
  // Below 1.5 is what is not above 1.
  const kept = isExact ? operator : operator.startsWith("<") ? "<=" : ">";
  return { kind: "compare", column, operator: kept, value };
}

const nothing: Condition = { kind: "or", members: [] };
const isThere = (column: Column): Condition => ({ kind: "null", column, negated: true });

/** 1 above everything that the integer column holds, -1 below it, 0 within. */
function sideOf({ range }: Column, value: Scalar): -1 | 0 | 1 {
  if (range === null || typeof value !== "bigint") return 0;
  return value > range.max ? 1 : value < range.min ? -1 : 0;
}

/** Whether a row may have just this value. */
const isWithin = (column: Column, { value, isExact }: Place): boolean =>
  isExact && sideOf(column, value) === 0;

function like(negated: boolean): Operator {
  return {
    operand: "pattern",
    read: (column, value, sensitive) => likeCondition(column, value, negated, !sensitive),
  };
}

function likeCondition(
  column: Column,
  value: unknown,
  negated: boolean,
  ignoreCase: boolean,
): Condition {
  mustHaveText(column);
  return {
    kind: "like",
    column,
    pattern: patternText(value, "The pattern of LIKE"),
    negated,
    ignoreCase,
  };
}

/** Rejects a column whose values contain others, or files: a pattern or a search would find nothing there. */
export function mustHaveText(column: Column): void {
  const { isCompared, fromMember } = columnTypes[column.type];
  if (fromMember !== null)
    throw invalidParameter(
      `Column "${column.name}" cannot be searched, as its values are no texts`,
    );
  if (!isCompared) throw notCompared(column);
}

/** A text to search for: a string, or a number as its digits. `subject` begins the message. */
export function patternText(value: unknown, subject: string): string {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string") throw invalidParameter(`${subject} must be text`);
  if (isLonger(text, limits.patternLengthMax)) {
    throw invalidParameter(`${subject} must have at most ${limits.patternLengthMax} characters`);
  }
  if (!text.isWellFormed()) throw invalidParameter(`${subject} must be valid Unicode`);
  return text;
}

function between(negated: boolean): Operator {
  return {
    operand: "pair",
    read(column, value) {
      if (!Array.isArray(value) || value.length !== 2 || value.includes(null)) {
        throw invalidPayload("BETWEEN needs an array of two values");
      }
      const [low, high] = value as [unknown, unknown];
      const [from, to] = [placeOf(column, low), placeOf(column, high)];
      if (!isWithin(column, from) || !isWithin(column, to)) {
        return negated
          ? { kind: "or", members: [compare(column, "<", low), compare(column, ">", high)] }
          : { kind: "and", members: [compare(column, ">=", low), compare(column, "<=", high)] };
      }
      return { kind: "between", column, low: from.value, high: to.value, negated };
    },
  };
}

/** A null among the values means "is null", as with `=`; SQL's own IN would match no row for it. */
function membership(negated: boolean): Operator {
  return {
    operand: "list",
    read(column, value) {
      if (!Array.isArray(value)) throw invalidPayload("IN needs an array of values");
      if (value.length > limits.inValuesMax)
        throw invalidPayload(`IN takes at most ${limits.inValuesMax} values`);
      const places = value.filter((item) => item !== null).map((item) => placeOf(column, item));
      const values = places.filter((place) => isWithin(column, place)).map((place) => place.value);
      const among: Condition = { kind: "in", column, values, negated };
      if (places.length === value.length) return among;
      const missing: Condition = { kind: "null", column, negated };
      return { kind: negated ? "and" : "or", members: [among, missing] };
    },
  };
}
