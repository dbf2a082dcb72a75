/**
 * What the extension ColumnControl adds to `columns` of the grid's request -> a Condition: a search and a list of
 * values per column. The library sends both for every column on every draw, so they are usually empty.
 */
import type { Column } from "../values/types/column.ts";
import type { GridPlan } from "../plans/grid-plan.ts";
import { invalidPayload } from "../values/errors.ts";
import { isObject } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import { allOf, type Condition } from "../query/statement.ts";
import { columnOf } from "../query/comparisons.ts";
import { columnTypes } from "../values/types/column-types.ts";
import { partsOf } from "../values/formats.ts";
import { conditionOf, inColumnForm, isSelected, isTaken, type Test } from "./criterion.ts";
import { isBlank, optionalText, placesOf, type Sent } from "./grid-parameters.ts";
import { conditionOfTerm, termsOf } from "./search-terms.ts";
import type { SentColumn } from "./sent-columns.ts";
import { matches } from "./text-match.ts";

/**
 * Null when nothing filters. Columns that show no field, or are not searchable, are ignored. Rejects with Invalid
 * payload, or with Invalid field for an unknown column that filters.
 */
export function parseColumnControl(
  sent: readonly SentColumn[],
  { named, searchesWords }: GridPlan,
): Condition | null {
  const conditions: Condition[] = [];
  let selected = 0;
  for (const { column, name, isSearchable, control } of sent) {
    if ((column === null && name === null) || !isSearchable || isBlank(control)) continue;
    if (!isObject(control)) throw invalidPayload("columnControl must be an object");
    const list = [...placesOf(control["list"], "The list of columnControl").values()];
    selected += list.length;
    if (selected > limits.gridSelectedMax)
      throw invalidPayload(`The lists of a grid take at most ${limits.gridSelectedMax} values`);
    if (column === null) {
      if (list.length > 0 || isFilled(control["search"])) columnOf(name!, named, "columns");
      continue;
    }
    conditions.push(...searchesOf(column, control["search"], searchesWords));
    if (list.length > 0) conditions.push(isSelected(column, list));
  }
  if (conditions.length > limits.gridTermsMax) {
    throw invalidPayload(`columnControl takes at most ${limits.gridTermsMax} searches`);
  }
  return allOf(...conditions);
}

/** Whether a search of an unknown column has something to search for. */
const isFilled = (search: unknown): boolean =>
  isObject(search) &&
  !isBlank(search["logic"]) &&
  (!isBlank(search["value"]) || /empty$/i.test(String(search["logic"])));

/** More than one if each word of the text is searched for separately. */
function searchesOf(column: Column, search: unknown, isWords: boolean): Condition[] {
  if (isBlank(search)) return [];
  if (!isObject(search)) throw invalidPayload("The search of columnControl must be an object");
  const { value, logic, type, mask } = search;
  if (isBlank(logic)) return [];
  const tests = isBlank(type) ? logics.get("text") : logics.get(type as string);
  if (!tests) throw invalidPayload("The type of columnControl must be text, num or date");
  const test = tests.get(logic as string);
  if (!test) {
    const known = [...tests.keys()].join(", ");
    throw invalidPayload(`The logic of columnControl must be one of: ${known}`);
  }
  if (test === "contains" && isWords) {
    const text = optionalText(value, "A value to search for");
    return termsOf(text, [column], true).map(conditionOfTerm);
  }
  const isDate = type === "date" && !isBlank(value);
  const condition = !isDate
    ? conditionOf(column, test, [value])
    : isBlank(mask)
      ? dateOf(column, test, value)
      : maskedOf(column, test, search);
  return condition === null ? [] : [condition];
}

/** As in the browser, an incomplete date is not searched for. */
const dateOf = (column: Column, test: Test, value: unknown): Condition | null =>
  test.endsWith("null") || isTaken(column, inColumnForm(column, value))
    ? conditionOf(column, test, [value])
    : null;

/** A part of a date and time: only the day, or only the time of day. */
function maskedOf(column: Column, test: Test, { value, mask }: Sent): Condition | null {
  if (mask !== "YYYY-MM-DD" && mask !== "hh:mm:ss")
    throw invalidPayload("The mask of columnControl must be YYYY-MM-DD or hh:mm:ss");
  const parts = partsOf(value);
  if (mask === "YYYY-MM-DD") return dateOf(column, test, parts?.day ?? value);
  const time = parts?.time ?? value;
  if (!columnTypes[column.type].isInstant || test.endsWith("null"))
    return dateOf(column, test, time);
  if (test !== "=" && test !== "!=")
    throw invalidPayload(
      `The time of day of "${column.name}" can only be compared with equal and notEqual`,
    );
  if (typeof time !== "string" || !timeOfDay.test(time)) return null;
  return matches(column, `%T${time}%`, test === "!=");
}

const timeOfDay = /^\d\d:\d\d:\d\d$/;

const textLogics = new Map<string, Test>([
  ["contains", "contains"],
  ["notContains", "!contains"],
  ["equal", "same"],
  ["notEqual", "!same"],
  ["starts", "starts"],
  ["ends", "ends"],
  ["empty", "null"],
  ["notEmpty", "!null"],
]);
const dateLogics = new Map<string, Test>([
  ["equal", "="],
  ["notEqual", "!="],
  ["greater", ">"],
  ["less", "<"],
  ["empty", "null"],
  ["notEmpty", "!null"],
]);
const numberLogics = new Map<string, Test>([
  ...dateLogics,
  ["greaterOrEqual", ">="],
  ["lessOrEqual", "<="],
]);

/** The words that the library sends for each type of search. */
const logics = new Map([
  ["text", textLogics],
  ["num", numberLogics],
  ["date", dateLogics],
]);
