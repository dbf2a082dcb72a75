/**
 * Conditions on the columns of one entity as JSON Schema: the columns, their operators, and the values of each. Columns
 * whose values have the same form share a branch.
 */
import type { Column, Columns } from "../values/types/column.ts";
import { columnTypes } from "../values/types/column-types.ts";
import { numberText } from "../values/types/numbers.ts";
import { comparedSchema, equalSchema } from "../values/types/schemas.ts";
import { anyOf, closedObject } from "../values/json-shapes.ts";
import { type JsonSchema, orNull } from "../values/json-schema.ts";
import { limits } from "../values/limits.ts";
import { type Operand, operatorsWith } from "./comparisons.ts";

/** One `{key, operator, value, sensitive?}` of `where`. */
export function conditionSchema(columns: Columns): JsonSchema {
  const of = (key: JsonSchema, operand: Operand, value: JsonSchema): JsonSchema =>
    closedObject(
      { key, operator: { enum: operatorsWith(operand) }, value, sensitive: sensitiveSchema },
      ["key", "operator", ...(operand === "none" ? [] : ["value"])],
    );
  const all = nameSchema(columns.values());
  const holdsMembers = ({ type }: Column): boolean => columnTypes[type].fromMember !== null;
  const texts = nameSchema(
    [...columns.values()].filter(({ type }) => columnTypes[type].isCompared),
  );
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

const memberSchema: JsonSchema = { type: ["string", "number", "boolean", "object"] };

/** One `{key, value}` of the equalities. */
export function equalitySchema(columns: Columns): JsonSchema {
  const operator: JsonSchema = { const: "=" };
  return anyOf(
    alike(columns, equalitySide).map(({ key, value }) =>
      closedObject({ key, value: orNull(value), operator }, ["key", "value"]),
    ),
  );
}

/** Groups columns by the form of their values: an enum of names, and the form. Skips columns without a form. */
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

/** The text of a search; a number means its digits. */
export const patternSchema: JsonSchema = {
  type: ["string", "number"],
  maxLength: limits.patternLengthMax,
};

export const sensitiveSchema: JsonSchema = { type: ["boolean", "null"], default: true };
