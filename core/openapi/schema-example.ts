/** A valid example value for a schema, the same every time. None if it is not certain that a value is valid. */
import type { Json } from "../values/json.ts";
import type { JsonSchema, JsonType } from "../values/json-schema.ts";
import { characterCount } from "../values/text.ts";
import { textMatching } from "./pattern-example.ts";

export interface ExampleOptions {
  /** Optional members of the outermost object that the example has; absent: as below. */
  readonly members?: readonly string[];
}

/**
 * Undefined = none. An object has its required members, and all of them where none is required; `readOnly` members are
 * left out of it.
 */
export function exampleOf(schema: JsonSchema, { members }: ExampleOptions = {}): Json | undefined {
  const places = { count: 0 };
  return members === undefined
    ? valueOf(schema, "value", places)
    : objectOf(schema, { members, places });
}

/** Each day in an example is later than the previous one, as rules between two fields usually require. */
interface Places {
  /** Days so far. */
  count: number;
}

function valueOf(schema: JsonSchema, name: string, places: Places): Json | undefined {
  const { allOf, anyOf, const: only, enum: members, examples, properties, type } = schema;
  if (only !== undefined) return only;
  if (schema.default !== undefined && schema.default !== null) return schema.default;
  if (examples?.[0] !== undefined) return examples[0];
  if (allOf) {
    const { allOf: _, ...rest } = schema;
    return valueOf(Object.assign({}, rest, ...allOf) as JsonSchema, name, places);
  }
  if (anyOf) {
    const { anyOf: _, ...base } = schema;
    const branches = anyOf.map((branch) => (properties ? overlaid(base, branch) : branch));
    return firstOf(branches, (branch) => valueOf(branch, name, places));
  }
  if (members) return members.find((member) => member !== null && member !== "") ?? members[0];
  if (type === undefined) return undefined;
  const types = [type].flat();
  return firstOf([...types.filter((one) => one !== "null"), "null"] as const, (one) =>
    types.includes(one) ? ofType(one, { schema, name, places }) : undefined,
  );
}

interface Asked {
  readonly schema: JsonSchema;
  readonly name: string;
  readonly places: Places;
}

function ofType(type: JsonType, { schema, name, places }: Asked): Json | undefined {
  switch (type) {
    case "null":
      return null;
    case "boolean":
      return true;
    case "integer":
      return numberIn(schema, 1);
    case "number":
      return numberIn(schema, schema.multipleOf ?? 1);
    case "string":
      return textOf(schema, name, places);
    case "array":
      return listOf(schema, name, places);
    case "object":
      return objectOf(schema, { places });
  }
}

function listOf(
  { items = {}, minItems = 0, maxItems = 1, uniqueItems }: JsonSchema,
  name: string,
  places: Places,
): Json | undefined {
  if (maxItems < 1) return [];
  const first = valueOf(items, name, places);
  if (first === undefined) return minItems === 0 ? [] : undefined;
  if (minItems <= 1) return [first];
  return uniqueItems ? undefined : Array.from({ length: minItems }, () => first);
}

function objectOf(
  schema: JsonSchema,
  { members, places }: { members?: readonly string[]; places: Places },
): Json | undefined {
  const { anyOf, ...base } = schema;
  if (anyOf)
    return firstOf(anyOf, (branch) =>
      objectOf(base.properties ? overlaid(base, branch) : branch, {
        ...(members && { members }),
        places,
      }),
    );
  const { properties = {}, required = [] } = schema;
  const all = Object.keys(properties).filter((name) => properties[name]!.readOnly !== true);
  const isAsked = (name: string): boolean =>
    required.includes(name) ||
    (members === undefined ? required.length === 0 : members.includes(name));
  const entries: [string, Json][] = [];
  for (const name of all.filter(isAsked)) {
    const value = valueOf(properties[name]!, name, places);
    if (value !== undefined) entries.push([name, value]);
    else if (required.includes(name)) return undefined;
  }
  return required.every((name) => Object.hasOwn(properties, name)) &&
    entries.length >= (schema.minProperties ?? 0)
    ? Object.fromEntries(entries)
    : undefined;
}

/** Members of a branch count beside those of the object that it stands in. */
const overlaid = (base: JsonSchema, branch: JsonSchema): JsonSchema => ({
  ...base,
  required: [...new Set([...(base.required ?? []), ...(branch.required ?? [])])],
  properties: {
    ...base.properties,
    ...Object.fromEntries(
      Object.entries(branch.properties ?? {}).map(([name, schema]) => [
        name,
        { ...base.properties?.[name], ...schema },
      ]),
    ),
  },
});

/** A number in the range, as close to ten units as possible. */
function numberIn(schema: JsonSchema, unit: number): number | undefined {
  const { minimum = -Infinity, maximum = Infinity } = schema;
  const { exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = schema;
  const low = Math.max(minimum, exclusiveMinimum + unit);
  const high = Math.min(maximum, exclusiveMaximum - unit);
  const wanted = Math.min(Math.max(10, low), high);
  const units = [Math.round(wanted / unit), Math.ceil(wanted / unit), Math.floor(wanted / unit)];
  return units
    .map((count) => Number((count * unit).toPrecision(15)))
    .find((number) => number >= low && number <= high);
}

function textOf(schema: JsonSchema, name: string, places: Places): string | undefined {
  const { minLength = 0, maxLength = Infinity, pattern, format, contentEncoding } = schema;
  const text = formed(places, { format, pattern, contentEncoding });
  const fits = (one: string): boolean =>
    characterCount(one) >= minLength && characterCount(one) <= maxLength;
  if (text !== null) return text !== undefined && fits(text) ? text : undefined;
  const words = name.replaceAll(/[_\W]+/g, " ").trim() || "text";
  const whole = words.slice(0, 1).toUpperCase() + words.slice(1);
  const cut = [...whole].slice(0, maxLength).join("").trimEnd();
  return fits(cut.padEnd(minLength, "x")) ? cut.padEnd(minLength, "x") : undefined;
}

/** A text of this form; undefined: it is not known how to make one; null: no form is asked for. */
function formed(
  places: Places,
  { format, pattern, contentEncoding }: Record<"format" | "pattern" | "contentEncoding", unknown>,
): string | undefined | null {
  if (contentEncoding !== undefined) return "AAEC";
  if (format !== undefined && pattern !== undefined) return undefined;
  if (typeof pattern === "string") return textMatching(pattern) ?? undefined;
  const isDay = format === "date" || format === "date-time";
  const day = `2026-01-${String(1 + ((places.count += isDay ? 1 : 0) % 28)).padStart(2, "0")}`;
  switch (format) {
    case undefined:
      return null;
    case "date":
      return day;
    case "date-time":
      return `${day}T09:30:00.000Z`;
    case "uuid":
      return "0b7e6c1a-52d4-4f8e-9a37-6d1c8f20e4b5";
    case "email":
      return "name@example.com";
    case "uri":
      return "https://example.com/";
    default:
      return undefined;
  }
}

/** The first that is something. */
function firstOf<Item, Value>(
  items: readonly Item[],
  toValue: (item: Item) => Value | undefined,
): Value | undefined {
  for (const item of items) {
    const value = toValue(item);
    if (value !== undefined) return value;
  }
  return undefined;
}
