/**
 * Requests and answers of aggregate as JSON Schemas of one entity. What the request itself names, its aliases and the tables that it
 * joins, is known only as a text: `having` and `sort_columns` take aliases, and no two members of an answer have the same name.
 */
import type { Column, Columns } from "../values/column.ts";
import type { AggregatePlan } from "../plans/entity.ts";
import { type JsonSchema, orNull } from "../values/json-schema.ts";
import { anyOf, closedObject, wholeObject } from "../values/json-shapes.ts";
import { limits } from "../values/limits.ts";
import { canJoin } from "./joins.ts";
import { functionNames, aliasForm, takesType } from "../query/aggregate-results.ts";
import { sortTermsSchema } from "./list-schema.ts";
import {
  equalitiesSchema,
  equalitySchema,
  namedWhereSchema,
  nameSchema,
  whereSchema,
} from "./where-schema.ts";

/** One branch without joins, and, where there is something to join, one with them. */
export function aggregateSchema(plan: AggregatePlan): JsonSchema {
  const noJoins: JsonSchema = { type: ["array", "null"], maxItems: 0 };
  const alone = requestSchema(plan.columns, noJoins);
  if (plan.joins.size + plan.tables.length === 0) return alone;
  return { anyOf: [alone, requestSchema(withJoined(plan), joinsSchema(plan), ["joins"])] };
}

const valueSchema: JsonSchema = { type: ["string", "number", "boolean", "null"] };
const rowSchema: JsonSchema = { type: "object", additionalProperties: valueSchema };

/** One object of the results by their aliases, or with `group_by` one for each group. */
export const aggregateAnswerSchema: JsonSchema = wholeObject({
  data: { anyOf: [rowSchema, { type: "array", items: rowSchema }] },
});

function requestSchema(
  columns: Columns,
  joins: JsonSchema,
  required: readonly string[] = [],
): JsonSchema {
  const groupable = [...columns].filter(([, { type }]) => takesType(null, type));
  const request = closedObject(
    {
      operations: orNull({
        type: "array",
        items: anyOf(operationSchemas(columns)),
        maxItems: limits.aggregateOperationsMax,
      }),
      group_by: orNull({
        type: "array",
        items: { enum: groupable.map(([name]) => name) },
        maxItems: limits.aggregateGroupsMax,
      }),
      having: namedWhereSchema(),
      joins,
      where: {
        anyOf: [whereSchema(columns), equalitySchema(columns), equalitiesSchema(columns, 0)],
      },
      sort_columns: sortTermsSchema({ type: "string" }),
      limit: { type: ["integer", "null"], minimum: 1, maximum: limits.aggregateLimitMax },
    },
    required,
  );
  const isGrouped: JsonSchema = {
    required: ["group_by"],
    properties: { group_by: { type: "array", minItems: 1 } },
  };
  return { ...request, anyOf: [{ properties: { having: { type: "null" } } }, isGrouped] };
}

/** One branch for functions that take the same columns. */
function operationSchemas(columns: Columns): JsonSchema[] {
  const byFields = new Map<string, { functions: string[]; fields: string[] }>();
  for (const name of functionNames) {
    const taken = [...columns].filter(([, { type }]) => takesType(name, type));
    const fields = [...(name === "count" ? ["*"] : []), ...taken.map(([field]) => field)];
    const group = byFields.get(fields.join("\n")) ?? { functions: [], fields };
    group.functions.push(name);
    byFields.set(fields.join("\n"), group);
  }
  const alias: JsonSchema = { type: ["string", "null"], pattern: aliasForm.source };
  return [...byFields.values()]
    .filter(({ fields }) => fields.length > 0)
    .map(({ functions, fields }) =>
      closedObject({ function: { enum: functions }, field: { enum: fields }, alias }, [
        "function",
        "field",
      ]),
    );
}

/** The columns of the entity, and those of everything that it may join, under the names that a request has for them. */
function withJoined({ columns, joins, tables }: AggregatePlan): Columns {
  const all = new Map<string, Column>();
  const add = (table: string, fields: Columns): void => {
    for (const [name, column] of fields) {
      all.set(`${table}.${name}`, column);
      all.set(name, column);
    }
  };
  for (const { name, columns: fields } of tables) add(name, fields);
  for (const [name, { fields }] of joins) add(name, fields);
  return new Map([...all, ...columns]);
}

function joinsSchema({ columns, joins, tables }: AggregatePlan): JsonSchema {
  const named = joins.size > 0 ? [{ enum: [...joins.keys()] }] : [];
  const asked = tables.flatMap(({ name, columns: fields }) => {
    const pairs = [...columns.values()].flatMap((left) => {
      const targets = [...fields.values()].filter((right) => canJoin(left, right));
      return targets.length === 0 ? [] : [{ left, targets }];
    });
    return pairs.map(({ left, targets }) =>
      closedObject(
        {
          tableName: { const: name },
          joinType: { enum: ["LEFT", "INNER", "RIGHT"], default: "LEFT" },
          sourceField: { const: left.name },
          targetField: nameSchema(targets),
          fields: { type: "array", items: nameSchema(fields.values()), minItems: 1 },
        },
        ["tableName", "sourceField", "targetField", "fields"],
      ),
    );
  });
  const items = anyOf([...named, ...asked]);
  return { type: "array", items, minItems: 1, maxItems: limits.aggregateJoinsMax };
}
