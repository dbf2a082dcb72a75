/**
 * What the parsers of `where.ts` take, as JSON Schemas of one entity: which column may be named, with which operator, and which values
 * each takes. Columns whose values have the same form share a branch.
 */
import type { Column, Columns } from "../values/column.ts";
import { columnTypes } from "../values/column-types.ts";
import { numberText } from "../values/numbers.ts";
import { comparedSchema, equalSchema } from "../values/schemas.ts";
import { anyOf, closedObject } from "../values/json-shapes.ts";
import { type JsonSchema, orNull } from "../values/json-schema.ts";
import { limits } from "../values/limits.ts";
import { type Operand, operatorsWith } from "../query/where.ts";

/** read's tree of conditions and groups, or null. At most `limits.whereConditionsMax` conditions in all, which a schema cannot count. */
export const whereSchema = (columns: Columns): JsonSchema => treeSchema(conditionSchema(columns));

function treeSchema(condition: JsonSchema): JsonSchema {
  let group = groupSchema(condition);
  for (let depth = 1; depth < limits.whereDepthMax; depth++)
    group = groupSchema({ anyOf: [condition, group] });
  return orNull({
    ...group,
    description: `Groups nest ${limits.whereDepthMax} deep, and hold ${limits.whereConditionsMax} conditions in all.`,
  });
}

/** A list of `{key, value}`, `null` standing for no value. `min`: how many there must be. */
export const equalitiesSchema = (columns: Columns, min: 0 | 1 = 1): JsonSchema => ({
  type: "array",
  items: equalitySchema(columns),
  ...(min > 0 && { minItems: min }),
  maxItems: limits.whereConditionsMax,
});

/** One `{key, value}`. */
export function equalitySchema(columns: Columns): JsonSchema {
  const operator: JsonSchema = { const: "=" };
  return anyOf(
    alike(columns, equalitySide).map(({ key, value }) =>
      closedObject({ key, value: orNull(value), operator }, ["key", "value"]),
    ),
  );
}

/** Columns whose values have the same form, as an enum of their names, with that form. Those for which `formOf` has none are left out. */
export function alike(
  columns: Columns,
  formOf: (column: Column) => JsonSchema | null = operandSchema,
): { key: JsonSchema; value: JsonSchema }[] {
  const groups = new Map<string, { names: string[]; value: JsonSchema }>();
  for (const [name, column] of columns) {
    const value = formOf(column);
    if (value === null) continue;
    const form = JSON.stringify(value);
    const group = groups.get(form) ?? { names: [], value };
    group.names.push(name);
    groups.set(form, group);
  }
  return [...groups.values()].map(({ names, value }) => ({ key: { enum: names }, value }));
}

/** What `=` compares the column with; without null. */
export const equalitySide = (column: Column): JsonSchema =>
  operandSchema(column) ?? equalSchema(column);

/** Whole numbers are compared with any number: `qty < 1.5`. */
function operandSchema(column: Column): JsonSchema | null {
  return columnTypes[column.type].arithmetic?.isWhole
    ? { type: ["number", "string"], pattern: numberText }
    : comparedSchema(column);
}

/** The name of one of the columns. */
export const nameSchema = (columns: Iterable<Column>): JsonSchema => ({
  enum: [...new Set([...columns].map(({ name }) => name))],
});

/** What joins the members of a group. */
export const logicSchema: JsonSchema = { enum: ["AND", "OR", "and", "or", null], default: "AND" };

const groupSchema = (member: JsonSchema): JsonSchema =>
  closedObject(
    {
      logic: logicSchema,
      conditions: { type: "array", items: member, maxItems: limits.whereConditionsMax },
    },
    ["conditions"],
  );

/** The text that a search looks for; a number stands for its digits. */
export const patternSchema: JsonSchema = {
  type: ["string", "number"],
  maxLength: limits.patternLengthMax,
};

const memberSchema: JsonSchema = { type: ["string", "number", "boolean", "object"] };

const sensitive: JsonSchema = { type: ["boolean", "null"], default: true };

function conditionSchema(columns: Columns): JsonSchema {
  const of = (key: JsonSchema, operand: Operand, value: JsonSchema): JsonSchema =>
    closedObject({ key, operator: { enum: operatorsWith(operand) }, value, sensitive }, [
      "key",
      "operator",
      ...(operand === "none" ? [] : ["value"]),
    ]);
  const all = nameSchema(columns.values());
  const holdsMembers = ({ type }: Column): boolean => columnTypes[type].fromMember !== null;
  const texts = nameSchema([...columns.values()].filter((column) => !holdsMembers(column)));
  const whole = alike(columns, (column) => (holdsMembers(column) ? equalSchema(column) : null));
  const members = whole.flatMap(({ key, value }) => [
    of(key, "any", orNull(value)),
    of(key, "member", memberSchema),
  ]);
  const compared = alike(columns).flatMap(({ key, value }) => {
    const values = { type: "array", items: orNull(value), maxItems: limits.inValuesMax } as const;
    const ends = { type: "array", items: value, minItems: 2, maxItems: 2 } as const;
    return [
      of(key, "any", orNull(value)),
      of(key, "value", value),
      of(key, "pair", ends),
      of(key, "list", values),
    ];
  });
  return anyOf([...compared, ...members, of(texts, "pattern", patternSchema), of(all, "none", {})]);
}

/** The same tree over names that the request gives itself. */
export const namedWhereSchema = (): JsonSchema =>
  treeSchema(
    closedObject(
      {
        key: { type: "string" },
        operator: { enum: operands.flatMap(operatorsWith) },
        value: {},
        sensitive,
      },
      ["key", "operator"],
    ),
  );

const operands: readonly Operand[] = ["any", "value", "pair", "list", "pattern", "member", "none"];
