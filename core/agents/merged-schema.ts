/**
 * Schemas of requests in the short form that agents get. The grammars list every pair of column and operator, hundreds
 * of kilobytes for an endpoint with relations, and all of it would be part of a prompt. The short form takes all that
 * the grammars take, except second spellings, and more: a request that is refused after all learns its fault from the
 * error.
 */
import type { Json } from "../values/json.ts";
import type { JsonSchema, JsonType } from "../values/json-schema.ts";
import { agentLimits } from "../values/agent-limits.ts";

/**
 * One schema without alternatives that takes all that any of these takes. `above`: names of members that are only
 * mentioned: those that the schema lies in, because groups hold groups.
 */
export function mergedSchema(
  schemas: readonly JsonSchema[],
  above: readonly string[] = [],
): JsonSchema {
  const forms = distinct(schemas.flatMap(formsOf));
  if (forms.length === 1 && isLeaf(forms[0]!)) return leaf(forms[0]!);
  const types = [...new Set(forms.flatMap(typesOf))];
  if (forms.length === 0 || forms.some((form) => typesOf(form).length === 0)) return textsOf(forms);
  const objects = forms.filter(({ properties }) => properties !== undefined);
  const lists = forms.flatMap(({ items }) => items ?? []);
  const further = forms.flatMap(({ additionalProperties: one }) =>
    typeof one === "object" ? one : [],
  );
  return {
    ...textsOf(forms),
    type: types.length === 1 ? types[0]! : types,
    ...valuesOf(forms),
    ...boundsOf(forms),
    ...(objects.length > 0 && membersOf(objects, above)),
    ...(lists.length > 0 && { items: mergedSchema(lists, above) }),
    ...(further.length > 0 && { additionalProperties: mergedSchema(further, above) }),
  };
}

/** The alternatives of a schema, each with what stands beside them. */
function formsOf(schema: JsonSchema): readonly JsonSchema[] {
  const { anyOf, allOf: _, not, ...own } = schema;
  if (not !== undefined && Object.keys(own).length === 0) return [];
  // Alternatives beside members only say which members exclude each other.
  if (anyOf === undefined || own.properties !== undefined) return [schema];
  return anyOf.flatMap(formsOf).map((form) => ({ ...textsOf([schema]), ...form }));
}

const isLeaf = ({ properties, items, additionalProperties }: JsonSchema): boolean =>
  properties === undefined && items === undefined && typeof additionalProperties !== "object";

/** Leaves by content; others are merged, which is quicker than comparing them. */
const distinct = (forms: readonly JsonSchema[]): JsonSchema[] => [
  ...new Map(forms.map((form) => [isLeaf(form) ? JSON.stringify(form) : form, form])).values(),
];

function leaf(form: JsonSchema): JsonSchema {
  const { pattern: _, anyOf: __, allOf: ___, not: ____, enum: values, ...rest } = form;
  return values === undefined ? rest : { ...rest, ...valuesOf([form]) };
}

function membersOf(objects: readonly JsonSchema[], above: readonly string[]): JsonSchema {
  const parts = new Map<string, JsonSchema[]>();
  for (const { properties = {} } of objects)
    for (const [name, part] of Object.entries(properties))
      parts.set(name, [...(parts.get(name) ?? []), part]);
  const members = [...parts].flatMap(([name, own]): [string, JsonSchema][] => {
    if (own.every((part) => isNever(part) || part.readOnly === true)) return [];
    if (above.includes(name)) return [[name, mentioned(own)]];
    return [[name, mergedSchema(own, [...above, name])]];
  });
  const [first, ...others] = objects;
  const needed = (first?.required ?? []).filter((name) =>
    others.every(({ required = [] }) => required.includes(name)),
  );
  return {
    properties: Object.fromEntries(members),
    ...(needed.length > 0 && { required: needed }),
  };
}

const isNever = ({ not, ...rest }: JsonSchema): boolean =>
  not !== undefined && Object.keys(rest).length === 0;

const elsewhere = "The tool describe shows its form.";

function mentioned(parts: readonly JsonSchema[]): JsonSchema {
  const types = [...new Set(parts.flatMap(formsOf).flatMap(typesOf))];
  return { type: types.length === 1 ? types[0]! : types, description: elsewhere };
}

/** The values that all forms list, without second spellings. Nothing if a form takes others, or if they are too many. */
function valuesOf(forms: readonly JsonSchema[]): JsonSchema {
  const values = new Set<Json>();
  for (const { enum: listed, const: only, type } of forms) {
    if (listed !== undefined) for (const value of listed) values.add(value);
    else if (only !== undefined) values.add(only);
    else if (type === "null") values.add(null);
    else return {};
  }
  const first = [...values].filter((value) => {
    const large = typeof value === "string" ? value.toUpperCase() : value;
    return large === value || !values.has(large);
  });
  return first.length > agentLimits.namesListedMax
    ? { description: "A name; the tool describe lists them." }
    : { enum: first };
}

function typesOf({ type, enum: values, const: value }: JsonSchema): readonly JsonType[] {
  if (type !== undefined) return [type].flat();
  const listed = values ?? (value === undefined ? [] : [value]);
  return [...new Set(listed.map(typeOf))];
}

function typeOf(value: Json): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value as "boolean" | "number" | "string" | "object";
}

/** The first description and default of any. */
function textsOf(forms: readonly JsonSchema[]): JsonSchema {
  const description = forms.find((form) => form.description !== undefined)?.description;
  const byDefault = forms.find((form) => form.default !== undefined)?.default;
  return {
    ...(description !== undefined && { description }),
    ...(byDefault !== undefined && { default: byDefault }),
  };
}

const widest = [
  ["minimum", Math.min],
  ["maximum", Math.max],
  ["minItems", Math.min],
  ["maxItems", Math.max],
  ["maxLength", Math.max],
] as const;

/** The bounds that all forms have, except null. */
function boundsOf(forms: readonly JsonSchema[]): JsonSchema {
  const bound = forms.filter(({ type }) => type !== "null");
  return Object.fromEntries(
    widest.flatMap(([keyword, pick]) => {
      const values = bound.map((form) => form[keyword]);
      return values.some((value) => value === undefined)
        ? []
        : [[keyword, pick(...(values as number[]))]];
    }),
  );
}
