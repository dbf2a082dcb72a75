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
  const alone = requestSchema({ ...namesIn(plan.columns), joins: noJoins });
  const joinable = plan.joins.size + plan.tables.length;
  if (joinable === 0) return alone;
  const joined =
    joinable > limits.joinsDescribedMax
      ? joinedRequestSchema
      : requestSchema({ ...namesIn(withJoined(plan)), joins: joinsSchema(plan) }, ["joins"]);
  return { anyOf: [alone, joined] };
}

const valueSchema: JsonSchema = { type: ["string", "number", "boolean", "null"] };
const rowSchema: JsonSchema = { type: "object", additionalProperties: valueSchema };

/** One object of the results by their aliases, or with `group_by` one for each group. */
export const aggregateAnswerSchema: JsonSchema = wholeObject({
  data: { anyOf: [rowSchema, { type: "array", items: rowSchema }] },
});

/** What a request names: the schemas of its members. */
interface Names {
  /** One operation. */
  readonly operation: JsonSchema;
  /** One column of group_by. */
  readonly group: JsonSchema;
  readonly where: JsonSchema;
  readonly joins: JsonSchema;
}

function namesIn(columns: Columns): Omit<Names, "joins"> {
  const groupable = [...columns].filter(([, { type }]) => takesType(null, type));
  return {
    operation: anyOf(operationSchemas(columns)),
    group: { enum: groupable.map(([name]) => name) },
    where: {
      anyOf: [whereSchema(columns), equalitySchema(columns), equalitiesSchema(columns, 0)],
    },
  };
}

function requestSchema(
  { operation, group, where, joins }: Names,
  required: readonly string[] = [],
): JsonSchema {
  const operations: JsonSchema = {
    type: "array",
    items: operation,
    maxItems: limits.aggregateOperationsMax,
  };
  const request = closedObject(
    {
      operations: orNull(operations),
      group_by: orNull({ type: "array", items: group, maxItems: limits.aggregateGroupsMax }),
      having: namedWhereSchema(),
      joins,
      where,
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

const alias: JsonSchema = { type: ["string", "null"], pattern: aliasForm.source };

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
    // Columns that can be joined to the same ones share a branch.
    const sources = Map.groupBy(columns.values(), (left) =>
      JSON.stringify([...fields.values()].filter((right) => canJoin(left, right)).map(nameOf)),
    );
    return [...sources].flatMap(([targets, lefts]) =>
      targets === "[]"
        ? []
        : joinSchema({
            tableName: { const: name },
            sourceField: nameSchema(lefts),
            targetField: { enum: JSON.parse(targets) as string[] },
            field: nameSchema(fields.values()),
          }),
    );
  });
  const items = anyOf([...named, ...asked]);
  return { type: "array", items, minItems: 1, maxItems: limits.aggregateJoinsMax };
}

const nameOf = ({ name }: Column): string => name;

const joinSchema = ({
  tableName,
  sourceField,
  targetField,
  field,
}: Record<"tableName" | "sourceField" | "targetField" | "field", JsonSchema>): JsonSchema =>
  closedObject(
    {
      tableName,
      joinType: { enum: ["LEFT", "INNER", "RIGHT"], default: "LEFT" },
      sourceField,
      targetField,
      fields: { type: "array", items: field, minItems: 1 },
    },
    ["tableName", "sourceField", "targetField", "fields"],
  );

const text: JsonSchema = { type: "string" };
const anyEquality = closedObject({ key: text, value: {}, operator: { const: "=" } }, [
  "key",
  "value",
]);

/**
 * A request with joins where there are so many tables that the schema says nothing of their names: for each endpoint, it
 * would name the columns of all others.
 */
export const joinedRequestSchema: JsonSchema = requestSchema(
  {
    operation: closedObject({ function: { enum: functionNames }, field: text, alias }, [
      "function",
      "field",
    ]),
    group: text,
    where: {
      anyOf: [
        namedWhereSchema(),
        anyEquality,
        { type: "array", items: anyEquality, maxItems: limits.whereConditionsMax },
      ],
    },
    joins: {
      type: "array",
      items: {
        anyOf: [
          text,
          joinSchema({ tableName: text, sourceField: text, targetField: text, field: text }),
        ],
      },
      minItems: 1,
      maxItems: limits.aggregateJoinsMax,
    },
  },
  ["joins"],
);
