/** Filters of a lookup request: `where` in its three forms, ids, and the text that a person types. */
import type { Grammar } from "../grammar/grammar.ts";
import { closest } from "../values/closest.ts";
import type { Column, Columns } from "../values/types/column.ts";
import { columnTypes } from "../values/types/column-types.ts";
import type { LookupPlan } from "../plans/read-plan.ts";
import { invalidParameter, invalidPayload } from "../values/errors.ts";
import { isObject, parseJson } from "../values/json.ts";
import { type JsonSchema, orNull } from "../values/json-schema.ts";
import { closedObject } from "../values/json-shapes.ts";
import { limits } from "../values/limits.ts";
import { comparedSchema } from "../values/types/schemas.ts";
import { characterCount, withoutAccents } from "../values/text.ts";
import { equalitySide, patternSchema } from "../query/condition-schema.ts";
import { columnOf, comparand, patternText } from "../query/comparisons.ts";
import { keyIn } from "../query/key-conditions.ts";
import { allOf, type Condition, type Sort } from "../query/statement.ts";
import { condition, equalities, treeOrPairs } from "../query/where.ts";

/**
 * `where` of a query: `where[city]=Graz` per column, `where[city][]=Graz&where[city][]=Wien` for one of several values,
 * or JSON text as in a body; empty = none. An empty value of a
 * column that cannot hold an empty text matches nothing: the field that the lookup depends on is not filled yet.
 */
export const queryFilter = (columns: Columns): Grammar<Condition | null> => ({
  read(sent) {
    if (sent === undefined || sent === "") return null;
    if (typeof sent === "string") return treeOrPairs(columns).read(jsonOf(sent));
    if (!isObject(sent)) throw notAFilter();
    return filterOf(sent, columns);
  },
  schema: () => querySchema(columns),
  *unknownIn(sent, path) {
    if (!isObject(sent)) return;
    for (const name of Object.keys(sent)) {
      if (!columns.has(name))
        yield { path: `${path}.${name}`, near: closest(name, columns.keys()) };
    }
  },
});

const notAFilter = () =>
  invalidPayload("where must be where[column]=value, or JSON text of conditions");

function filterOf(sent: Record<string, unknown>, columns: Columns): Condition | null {
  const pairs = Object.entries(sent);
  const typeOf = (name: string) => columnTypes[columnOf(name, columns, "where").type];
  const isUnfilled = pairs.some(([name, value]) => value === "" && !typeOf(name).isText);
  const filled = pairs.filter(([, value]) => value !== "" || !isUnfilled);
  const [same, among]: [object[], object[]] = [[], []];
  for (const [key, value] of filled) {
    // A column that holds several values is compared with all of them.
    if (!Array.isArray(value) || typeOf(key).fromMember !== null) same.push({ key, value });
    else {
      const values = value.filter((one) => one !== "" || typeOf(key).isText);
      among.push({ key, operator: "IN", value: values });
    }
  }
  return allOf(
    ...equalities(columns, { min: 0 }).read(same),
    ...among.map((one) => condition(columns).read(one)),
    isUnfilled ? { kind: "or", members: [] } : null,
  );
}

function querySchema(columns: Columns): JsonSchema {
  const [first = ""] = columns.keys();
  const example = { conditions: [{ key: first, operator: "IS NOT NULL" }] };
  const values = [...columns].map(([name, column]): [string, JsonSchema] => {
    const [one, some] = [equalitySide(column), comparedSchema(column)];
    const { inValuesMax: maxItems } = limits;
    const list = some && ({ type: "array", items: one, minItems: 1, maxItems } as const);
    return [name, { anyOf: [orNull(one), { const: "" }, ...(list ? [list] : [])] }];
  });
  return {
    anyOf: [
      closedObject(Object.fromEntries(values)),
      {
        type: "string",
        pattern: String.raw`^(\s*[\[{]|$)`,
        examples: [JSON.stringify(example)],
        description: "The JSON text of a where as in the body of a POST.",
      },
    ],
  };
}

function jsonOf(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) throw notAFilter();
  return parseJson(text);
}

/**
 * The rows with the given ids (`ids=a,b`, or an array in a body), for a page that needs the labels of values that it
 * already has; null = not requested.
 */
export const idsOf = (id: Column): Grammar<Condition | null> => ({
  read(sent) {
    if (sent === undefined || sent === null) return null;
    const wanted = typeof sent === "string" ? sent.split(",").filter((part) => part !== "") : sent;
    if (!Array.isArray(wanted)) throw invalidParameter("ids must be a list of ids");
    if (wanted.length > limits.inValuesMax)
      throw invalidParameter(`ids takes at most ${limits.inValuesMax} ids`);
    return keyIn(
      [id],
      wanted.map((value: unknown) => [comparand(id, value)]),
    );
  },
  schema() {
    const items = orNull(comparedSchema(id) ?? {});
    const list = orNull({ type: "array", items, maxItems: limits.inValuesMax });
    return columnTypes[id.type].isText ? { anyOf: [list, { type: "string" }] } : list;
  },
});

/**
 * The text that a person types; `name`: its name in the request. Rejects (Invalid parameter) anything but a text, and a
 * text that is too long for lookups.
 */
export const lookupText = (name: string): Grammar<string> => ({
  read(sent) {
    const text = patternText(sent, name);
    if (characterCount(text) <= limits.lookupSearchLengthMax) return text;
    throw invalidParameter(`${name} must have at most ${limits.lookupSearchLengthMax} characters`);
  },
  schema: () => ({ ...patternSchema, maxLength: limits.lookupSearchLengthMax }),
});

/** The labels that a search finds, as the configuration says; null for an empty text. `first`: the first of the order. */
export function labelMatch(
  text: string,
  { text: column, matchesPrefix, ignoresAccents }: LookupPlan,
  first?: Sort,
): Condition | null {
  if (text === "") return null;
  if (column === null) return { kind: "or", members: [] };
  if (!matchesPrefix && !ignoresAccents) return { kind: "contains", column, text };
  const literal = (ignoresAccents ? withoutAccents(text) : text).replace(/[\\%_]/g, "\\$&");
  return {
    kind: "like",
    column,
    pattern: `${matchesPrefix ? "" : "%"}${literal}%`,
    negated: false,
    ignoreCase: true,
    ignoreAccents: ignoresAccents,
    inOrder: first?.column.foldedOf === column,
  };
}
