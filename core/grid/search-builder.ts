/**
 * `searchBuilder` of the grid's request, a tree of criteria that a person puts together -> a Condition. A criterion
 * names its field by `origData`. Unlike the library's list of columns, this is an explicit filter: unknown fields are
 * refused, and only incomplete criteria are ignored.
 */
import type { Column, Columns } from "../values/types/column.ts";
import { invalidPayload } from "../values/errors.ts";
import { isObject } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import type { Condition } from "../query/statement.ts";
import { columnOf } from "../query/comparisons.ts";
import { conditionOf, type Test } from "./criterion.ts";
import { isBlank, listOf, placesOf, type Sent } from "./grid-parameters.ts";

/** Null when nothing filters. Rejects with Invalid payload, or with Invalid field for an unknown column. */
export function parseSearchBuilder(value: unknown, columns: Columns): Condition | null {
  if (isBlank(value)) return null;
  return parseGroup(value, { columns, depth: 1, left: { criteria: limits.gridCriteriaMax } });
}

interface Place {
  readonly columns: Columns;
  readonly depth: number;
  /** The number of criteria that are still allowed in the whole tree. */
  readonly left: { criteria: number };
}

function parseGroup(group: unknown, place: Place): Condition | null {
  if (!isObject(group)) throw invalidPayload("searchBuilder must be an object {logic, criteria}");
  if (place.depth > limits.gridCriteriaDepthMax)
    throw invalidPayload(
      `searchBuilder is nested deeper than ${limits.gridCriteriaDepthMax} groups`,
    );
  const logic = isBlank(group["logic"]) ? "AND" : group["logic"];
  if (typeof logic !== "string" || !/^(and|or)$/i.test(logic))
    throw invalidPayload("The logic of searchBuilder must be AND or OR");
  const members = listOf(group["criteria"], "criteria")
    .map((one) => parseMember(one, place))
    .filter((condition) => condition !== null);
  return members.length === 0 ? null : { kind: logic.toLowerCase() as "and" | "or", members };
}

function parseMember(one: unknown, place: Place): Condition | null {
  if (!isObject(one)) throw invalidPayload("criteria must be an array of objects");
  if (--place.left.criteria < 0)
    throw invalidPayload(`searchBuilder takes at most ${limits.gridCriteriaMax} criteria`);
  // A form cannot express that a group is empty: only its logic is sent.
  const isGroup = Object.hasOwn(one, "criteria") || Object.hasOwn(one, "logic");
  return isGroup
    ? parseGroup(one, { ...place, depth: place.depth + 1 })
    : parseCriterion(one, place.columns);
}

function parseCriterion(one: Sent, columns: Columns): Condition | null {
  const { condition, origData } = one;
  if (isUnset(condition)) return null;
  if (typeof condition !== "string" || !(conditions.has(condition) || condition === "without")) {
    const found = typeof condition === "string" ? ` "${condition.slice(0, 100)}"` : "";
    throw invalidPayload(`Unknown condition${found} in searchBuilder`);
  }
  const operands = operandsOf(one);
  // The library leaves it out of criteria of the page's script that have only a title.
  if (isUnset(origData) && operands.every(isBlank) && !condition.endsWith("null")) return null;
  if (typeof origData !== "string" || isUnset(origData))
    throw invalidPayload("A criterion of searchBuilder needs origData, the name of its field");
  const column = columnOf(origData, columns, "searchBuilder");
  // As in the browser, an empty text is a value of a column that the page shows as dates.
  if (condition.endsWith("null") && /^(date|moment|luxon)/.test(String(one["type"])))
    return { kind: "null", column, negated: condition === "!null" };
  return eitherSpelling(column, testOf(condition, one), operands);
}

/** `contains` of its columns of arrays means an element, and only these have `without`. */
function testOf(condition: string, { type }: Sent): Test {
  if (condition === "without") return "!member";
  return condition === "contains" && type === "array" ? "member" : (condition as Test);
}

/**
 * The library's second version, for DataTables 3, sends `&`, `<`, `>` and `"` as HTML entities; the first one sends
 * them unchanged, and nothing in the request tells which version sent it. So a value with an entity stands for both
 * texts.
 */
function eitherSpelling(column: Column, test: Test, values: readonly unknown[]): Condition | null {
  const plain = values.map(withoutEntities);
  const spellings = plain.some((value, at) => value !== values[at]) ? [values, plain] : [values];
  const [first = null, ...others] = spellings
    .map((spelling) => conditionOf(column, test, spelling))
    .filter((condition) => condition !== null);
  if (first === null || others.length === 0) return first;
  return { kind: test.startsWith("!") ? "and" : "or", members: [first, ...others] };
}

const entities = new Map([
  ["&amp;", "&"],
  ["&lt;", "<"],
  ["&gt;", ">"],
  ["&quot;", '"'],
]);

const withoutEntities = (value: unknown): unknown =>
  typeof value === "string"
    ? value.replace(/&(?:amp|lt|gt|quot);/g, (entity) => entities.get(entity)!)
    : value;

/** `value`, or if that is empty `value1` and `value2`. */
function operandsOf({ value, value1, value2 }: Sent): readonly unknown[] {
  const isOne = typeof value === "string" || typeof value === "number";
  const values = isOne && value !== "" ? [value] : [...placesOf(value, "value").values()];
  if (values.length > 0) return values;
  // Without a list of values, the word "undefined" can only mean that no value was set.
  return [value1, value2].map((one) => (isUnset(one) ? undefined : one));
}

/** DataTables 3 writes the word "undefined" into a form for members that are not set. */
const isUnset = (value: unknown): boolean => isBlank(value) || value === "undefined";

const conditions: ReadonlySet<string> = new Set([
  "=",
  "!=",
  "contains",
  "!contains",
  "starts",
  "!starts",
  "ends",
  "!ends",
  "null",
  "!null",
  "<",
  "<=",
  ">",
  ">=",
  "between",
  "!between",
] satisfies Test[]);
