/**
 * What the extension ColumnControl adds to `columns` of the grid's request, a search and a list of values for each column
 * -> a Condition. The library sends both for every column on every draw, so an empty one is the rule.
 */
import type { Column } from "../values/column.ts";
import { invalidPayload } from "../values/errors.ts";
import { isObject } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import { allOf, type Condition } from "../query/statement.ts";
import { columnTypes } from "../values/column-types.ts";
import { partsOf } from "../values/formats.ts";
import { conditionOf, isSelected, matches, type Test } from "./criterion.ts";
import { isBlank, membersOf, type Sent } from "./grid-parameters.ts";
import type { SentColumn } from "./sent-columns.ts";

/** Null when nothing filters. What is no field, or not searchable, is passed over. Rejects with Invalid payload. */
export function parseColumnControl(sent: readonly SentColumn[]): Condition | null {
  const conditions: Condition[] = [];
  let selected = 0;
  for (const { column, isSearchable, control } of sent) {
    if (column === null || !isSearchable || isBlank(control)) continue;
    if (!isObject(control)) throw invalidPayload("columnControl must be an object");
    const list = [...membersOf(control["list"], "The list of columnControl").values()];
    selected += list.length;
    if (selected > limits.gridSelectedMax)
      throw invalidPayload(`The lists of a grid take at most ${limits.gridSelectedMax} values`);
    const search = searchOf(column, control["search"]);
    if (search !== null) conditions.push(search);
    if (list.length > 0) conditions.push(isSelected(column, list));
  }
  if (conditions.length > limits.gridTermsMax) {
    throw invalidPayload(`columnControl takes at most ${limits.gridTermsMax} searches`);
  }
  return allOf(...conditions);
}

function searchOf(column: Column, search: unknown): Condition | null {
  if (isBlank(search)) return null;
  if (!isObject(search)) throw invalidPayload("The search of columnControl must be an object");
  const { value, logic, type, mask } = search;
  if (isBlank(logic)) return null;
  const tests = isBlank(type) ? logics.get("text") : logics.get(type as string);
  if (!tests) throw invalidPayload("The type of columnControl must be text, num or date");
  const test = tests.get(logic as string);
  if (!test) {
    const known = [...tests.keys()].join(", ");
    throw invalidPayload(`The logic of columnControl must be one of: ${known}`);
  }
  if (type !== "date" || isBlank(mask) || isBlank(value)) return conditionOf(column, test, [value]);
  return maskedOf(column, test, search);
}

/** A part of a date and time alone: the day, or the time of day. */
function maskedOf(column: Column, test: Test, { value, mask }: Sent): Condition | null {
  if (mask !== "YYYY-MM-DD" && mask !== "hh:mm:ss")
    throw invalidPayload("The mask of columnControl must be YYYY-MM-DD or hh:mm:ss");
  const parts = partsOf(value);
  if (mask === "YYYY-MM-DD") return conditionOf(column, test, [parts?.day ?? value]);
  const time = parts?.time ?? value;
  if (!columnTypes[column.type].isInstant || test.endsWith("null"))
    return conditionOf(column, test, [time]);
  if ((test !== "=" && test !== "!=") || typeof time !== "string" || !timeOfDay.test(time))
    throw invalidPayload(
      `The time of day of "${column.name}" can be tested for equal and notEqual, as hh:mm:ss`,
    );
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
