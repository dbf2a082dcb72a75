/**
 * Converts one test of a field by the grid's extensions into a Condition. It finds what the library finds when it
 * searches in the browser, where a missing value is an empty text: texts are compared without case, and a negated test
 * is true for nulls.
 */
import type { Column } from "../values/types/column.ts";
import { isDate } from "../values/formats.ts";
import type { Comparison, Condition } from "../query/statement.ts";
import { comesAfter, isComparable } from "../query/comparisons.ts";
import { condition } from "../query/where.ts";
import { accept } from "../values/types/accept.ts";
import { columnTypes } from "../values/types/column-types.ts";
import { ExactNumber } from "../values/json.ts";
import { invalidPayload } from "../values/errors.ts";
import { asPayload, isBlank, optionalText } from "./grid-parameters.ts";
import { orMissing, textDiffers, textMatches, type TextTest } from "./text-match.ts";

/**
 * `same` is equality that ignores case, `member` that an array has the element; `null` is true for empty texts too. `!`
 * negates a test.
 */
export type Test =
  | Comparison
  | "between"
  | "!between"
  | "null"
  | "!null"
  | "member"
  | "!member"
  | TextTest
  | `!${TextTest}`;

/**
 * Null where a value that the test takes is missing: the library sends such tests while a person is still typing. A
 * value that the column cannot take (an incomplete date) matches no row. Rejects with Invalid payload values that are
 * not text, numbers or booleans.
 */
export function conditionOf(
  column: Column,
  test: Test,
  sent: readonly unknown[],
): Condition | null {
  const values = Array.from({ length: valuesTaken(test) }, (_, at) =>
    inColumnForm(column, sent[at]),
  );
  if (values.some(isBlank)) return null;
  const negated = test.startsWith("!");
  const isMember = test === "member" || test === "!member";
  if (isTextTest(test) || (isMember && columnTypes[column.type].fromMember === null)) {
    const text = optionalText(sent[0], "A value to search for");
    const name = isMember ? "contains" : (test.replace("!", "") as TextTest);
    return (negated ? textDiffers : textMatches)(column, name, text);
  }
  const areTaken = values.map((one) => isTaken(column, one));
  const [value] = values;
  if (isMember) return hasElement(column, value, negated);
  if (areTaken.includes(false)) return { kind: negated ? "and" : "or", members: [] };
  switch (test) {
    case "null":
      return isEmpty(column);
    case "!null":
      return isFilled(column);
    case "=":
      return isEqual(column, value);
    case "!=":
      return orMissing(column, ...differs(column, value));
    case "<":
    case "<=":
    case ">":
    case ">=":
      return edge(column, test, value);
    case "between": {
      const [low, high] = inOrder(column, values);
      return { kind: "and", members: [edge(column, ">=", low), edge(column, "<=", high)] };
    }
    case "!between": {
      const [low, high] = inOrder(column, values);
      return orMissing(column, edge(column, "<", low), edge(column, ">", high));
    }
  }
}

/** Whether the column can be compared with the value, as `inColumnForm` returns it. Rejects like conditionOf. */
export function isTaken(column: Column, value: unknown): boolean {
  const isPlain = typeof value !== "object" || value instanceof ExactNumber;
  if (!isPlain || (typeof value === "string" && !value.isWellFormed()))
    throw invalidPayload("A value to compare with must be a number or valid Unicode text");
  return isComparable(column, value);
}

/** Whether the array has the element. One that it cannot have is in no row. */
function hasElement(column: Column, value: unknown, negated: boolean): Condition {
  const member = accept(column, columnTypes[column.type].fromMember!(value));
  if (!member.ok) return { kind: negated ? "and" : "or", members: [] };
  const { value: element } = member;
  return negated
    ? orMissing(column, { kind: "notMember", column, value: element })
    : { kind: "member", column, value: element };
}

/**
 * Whether the field has one of the values; an empty one stands for all fields without a value. Rejects like
 * conditionOf.
 */
export function isSelected(column: Column, values: readonly unknown[]): Condition {
  const filled = values.filter((value) => !isBlank(value));
  const taken = filled
    .map((value) => inColumnForm(column, value))
    .filter((value) => isTaken(column, value));
  const members: Condition[] = [];
  if (taken.length > 0) members.push(inWhere(column, "IN", taken));
  if (filled.length < values.length) members.push(isEmpty(column));
  return { kind: "or", members };
}

const valuesTaken = (test: Test): number =>
  test.endsWith("null") ? 0 : test.endsWith("between") ? 2 : 1;

/** No value is null, or a text without characters. */
function isEmpty(column: Column): Condition {
  const isNull: Condition = { kind: "null", column, negated: false };
  return hasEmptyText(column) ? orMissing(column, inWhere(column, "=", "")) : isNull;
}

const isFilled = (column: Column): Condition => {
  const isNotNull: Condition = { kind: "null", column, negated: true };
  return hasEmptyText(column)
    ? { kind: "and", members: [isNotNull, inWhere(column, "!=", "")] }
    : isNotNull;
};

/** A label is never empty, and an engine may refuse to compare it with other texts. */
const hasEmptyText = ({ type, labels }: Column): boolean =>
  columnTypes[type].isText && labels === null;

/** A condition in the terms of read's `where`, which turns the value into the column's type. */
function inWhere(column: Column, operator: string, value: unknown): Condition {
  const columns = new Map([[column.name, column]]);
  return asPayload(() => condition(columns).read({ key: column.name, operator, value }));
}

function isEqual(column: Column, value: unknown): Condition {
  return dayAfter(column, value) === null
    ? inWhere(column, "=", value)
    : { kind: "and", members: [edge(column, ">=", value), edge(column, "<=", value)] };
}

const differs = (column: Column, value: unknown): Condition[] =>
  dayAfter(column, value) === null
    ? [inWhere(column, "!=", value)]
    : [edge(column, "<", value), edge(column, ">", value)];

/** A comparison; after a day, and up to a day, mean its end. */
function edge(column: Column, operator: "<" | "<=" | ">" | ">=", value: unknown): Condition {
  const next = dayAfter(column, value);
  if (next !== null && operator === "<=") return inWhere(column, "<", next);
  if (next !== null && operator === ">") return inWhere(column, ">=", next);
  return inWhere(column, operator, value);
}

/**
 * A bare date stands for the whole day where the column holds instants. Null elsewhere, and for the last possible day.
 */
function dayAfter({ type }: Column, value: unknown): string | null {
  if (!columnTypes[type].isInstant || typeof value !== "string" || !isDate(value)) return null;
  const next = new Date(Date.parse(value) + 86_400_000).toISOString().slice(0, 10);
  return isDate(next) ? next : null;
}

/** The smaller value first: the library accepts both orders, and sorts some values as text. */
function inOrder(column: Column, [first, second]: readonly unknown[]): [unknown, unknown] {
  return comesAfter(column, first, second) ? [second, first] : [first, second];
}

/** The value as its column's type takes it. */
export const inColumnForm = ({ type }: Column, value: unknown): unknown =>
  typeof value === "string" ? columnTypes[type].fromFilter(value) : value;

const isTextTest = (test: Test): test is TextTest | `!${TextTest}` => textTests.has(test);

const textTests: ReadonlySet<string> = new Set(
  ["contains", "starts", "ends", "same"].flatMap((name) => [name, `!${name}`]),
);
