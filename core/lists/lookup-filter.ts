/** What a request of lookup filters by -> Conditions: `where` in its three forms, and the text that a person types. */
import type { Columns } from "../values/column.ts";
import type { LookupPlan } from "../plans/entity.ts";
import { invalidParameter, invalidPayload } from "../values/errors.ts";
import { isObject, parseJson } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import { allOf, type Condition } from "../query/statement.ts";
import { columnTypes } from "../values/column-types.ts";
import { characterCount, withoutAccents } from "../values/text.ts";
import { columnOf, parseEqualities, parseWhere, patternText } from "../query/where.ts";

/** read's tree, or `[{key, value}]`; an empty list filters nothing. Rejects like parseWhere. */
export function bodyFilter(where: unknown, columns: Columns): Condition | null {
  if (!Array.isArray(where)) return parseWhere(where, columns);
  return where.length === 0 ? null : allOf(...parseEqualities(where, columns, false));
}

/**
 * `where` of a query: `where[city]=Graz` for each column, or the JSON text of what a body may hold; empty = none. An empty value of a column
 * that has no empty text finds nothing: the field that it depends on is not filled yet.
 */
export function queryFilter(where: unknown, columns: Columns): Condition | null {
  if (where === undefined || where === "") return null;
  if (typeof where === "string") return bodyFilter(jsonOf(where), columns);
  if (!isObject(where))
    throw invalidPayload("where must be where[column]=value, or JSON text of conditions");
  const pairs = Object.entries(where);
  const isUnfilled = pairs.some(
    ([name, value]) => value === "" && !columnTypes[columnOf(name, columns, "where").type].isText,
  );
  const filled = pairs.filter(([, value]) => value !== "" || !isUnfilled);
  const conditions =
    filled.length === 0
      ? []
      : parseEqualities(
          filled.map(([key, value]) => ({ key, value })),
          columns,
          false,
        );
  return allOf(...conditions, isUnfilled ? { kind: "or", members: [] } : null);
}

function jsonOf(text: string): unknown {
  const isJson = /^\s*[{[]/.test(text);
  if (!isJson)
    throw invalidPayload("where must be where[column]=value, or JSON text of conditions");
  return parseJson(text);
}

/** `name`: what the request calls the text. Rejects (Invalid parameter) what is no text, or longer than lookups take. */
export function lookupText(value: unknown, name: string): string {
  const text = patternText(value, name);
  if (characterCount(text) <= limits.lookupSearchLengthMax) return text;
  throw invalidParameter(`${name} must have at most ${limits.lookupSearchLengthMax} characters`);
}

/** The labels that a search finds, as the configuration says; null for an empty text. */
export function labelMatch(
  text: string,
  { text: column, matchesPrefix, ignoresAccents }: LookupPlan,
): Condition | null {
  if (text === "") return null;
  if (!matchesPrefix && !ignoresAccents) return { kind: "contains", column, text };
  const literal = (ignoresAccents ? withoutAccents(text) : text).replace(/[\\%_]/g, "\\$&");
  return {
    kind: "like",
    column,
    pattern: `${matchesPrefix ? "" : "%"}${literal}%`,
    negated: false,
    ignoreCase: true,
    ignoreAccents: ignoresAccents,
  };
}
