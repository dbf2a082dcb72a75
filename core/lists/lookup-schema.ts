/** Requests and answers of lookup as JSON Schemas of one entity. */
import { columnTypes } from "../values/column-types.ts";
import { comparedSchema } from "../values/schemas.ts";
import type { Columns } from "../values/column.ts";
import type { Entity, LookupPlan, RequestSettings } from "../plans/entity.ts";
import { type JsonSchema, orNull } from "../values/json-schema.ts";
import { closedObject } from "../values/json-shapes.ts";
import { limits } from "../values/limits.ts";
import { askedPageSchema, limitSchema, sortSchema } from "./list-schema.ts";
import { onlyPage } from "./order.ts";
import { shownMembers } from "./shown-schema.ts";
import {
  equalitiesSchema,
  equalitySide,
  nameSchema,
  patternSchema,
  whereSchema,
} from "./where-schema.ts";

/** The query of a search; the names that Select2 and the cache-busters of a browser's libraries add have no effect of their own. */
export function lookupQuerySchema(plan: LookupPlan, { settings }: Entity): JsonSchema {
  const { columns } = plan;
  const search: JsonSchema = { type: "string", maxLength: limits.lookupSearchLengthMax };
  return closedObject({
    search: { ...search, default: "" },
    q: { ...search, description: "Another name of search." },
    term: { ...search, description: "Another name of search." },
    where: queryWhereSchema(columns),
    ids: { type: "string", description: "Ids with commas between them." },
    page: pageOf(plan, settings),
    limit: limitSchema,
    _type: {},
    _: {},
  });
}

/** `where[city]=Graz`, or JSON text. */
function queryWhereSchema(columns: Columns): JsonSchema {
  const [first = ""] = columns.keys();
  const example = { conditions: [{ key: first, operator: "IS NOT NULL" }] };
  const values = [...columns].map(([name, column]): [string, JsonSchema] => {
    return [name, { anyOf: [orNull(equalitySide(column)), { const: "" }] }];
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

/** The body of a whole or filtered list. */
export function lookupBodySchema(plan: LookupPlan, { settings }: Entity): JsonSchema {
  const { columns, id } = plan;
  const where = whereSchema(columns);
  const value = comparedSchema(id) ?? {};
  const list = orNull({ type: "array", items: orNull(value), maxItems: limits.inValuesMax });
  return closedObject({
    search: orNull({ ...patternSchema, maxLength: limits.lookupSearchLengthMax }),
    where: { anyOf: [where, equalitiesSchema(columns, 0)] },
    select: orNull({ type: "array", items: nameSchema(columns.values()) }),
    sort_columns: sortSchema(columns),
    ids: columnTypes[id.type].isText ? { anyOf: [list, { type: "string" }] } : list,
    selected_tag: {},
    page: pageOf(plan, settings),
    limit: limitSchema,
    _type: {},
  });
}

const pageOf = (plan: LookupPlan, settings: RequestSettings): JsonSchema =>
  onlyPage(plan) === null ? askedPageSchema(settings) : { const: 1 };

/** `method` GET: the answer repeats the search. */
export function lookupAnswerSchema(
  { columns }: LookupPlan,
  { entity: { settings }, method }: { entity: Entity; method: "GET" | "POST" },
): JsonSchema {
  const item = closedObject(
    {
      ...shownMembers(columns, settings),
      id: { type: "string" },
      text: { type: "string" },
      selected: { const: "true" },
    },
    ["id", "text"],
  );
  const items: JsonSchema = { type: "array", items: item };
  const members: Record<string, JsonSchema> = {
    count: { type: "integer", minimum: 0 },
    data: items,
    ...(method === "GET" && { search: { type: "string" } }),
  };
  const forPages: Record<string, JsonSchema> = {
    results: items,
    pagination: closedObject({ more: { type: "boolean" } }, ["more"]),
  };
  return closedObject({ ...members, ...forPages }, Object.keys(members));
}
