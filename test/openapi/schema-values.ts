/**
 * Values generated from JSON Schemas, for property tests: valid ones, and invalid ones made from them. Supports what
 * the service's schemas use (`core/values/json-schema.ts`). Numbers and texts are small: other tests cover limits.
 */
import fc from "fast-check";
import { isObject, type Json } from "../../core/values/json.ts";
import type { JsonSchema, JsonType } from "../../core/values/json-schema.ts";
import { takes } from "./json-schema.ts";

/** Values for members of these names, where the schema takes them: keys of records that are there. */
export type Hints = Readonly<Record<string, readonly Json[]>>;

export function valuesOf(schema: JsonSchema, hints: Hints = {}): fc.Arbitrary<Json> {
  const made = new Map<JsonSchema, fc.Arbitrary<Json>>();
  return of(schema);

  function of(one: JsonSchema): fc.Arbitrary<Json> {
    const known = made.get(one);
    if (known) return known;
    const arbitrary = make(one);
    made.set(one, arbitrary);
    return arbitrary;
  }

  function make(one: JsonSchema): fc.Arbitrary<Json> {
    const { type, const: only, enum: members, anyOf, allOf, properties } = one;
    if (allOf !== undefined) {
      const { allOf: _, ...rest } = one;
      const whole: JsonSchema = Object.assign({}, rest, ...allOf);
      return of(whole).filter((value) => takes(one, value));
    }
    if (anyOf !== undefined && properties !== undefined) {
      const { anyOf: _, ...base } = one;
      return fc.oneof(...anyOf.map((branch) => of(overlaid(base, branch))));
    }
    if (anyOf !== undefined) return fc.oneof(...anyOf.map(of));
    if (only !== undefined) return fc.constant(only);
    if (members !== undefined) return fc.constantFrom(...members);
    if (type === undefined) return fc.constantFrom<Json>(...anyValues);
    return fc.oneof(...typesOf(one).map((name) => ofType(name, one)));
  }

  function ofType(name: JsonType, one: JsonSchema): fc.Arbitrary<Json> {
    const isText = [one.type].flat().includes("string");
    switch (name) {
      case "null":
        return fc.constant(null);
      case "boolean":
        return fc.boolean();
      case "integer":
      case "number":
        return numberOf(one, isText);
      case "string":
        return textOf(one);
      case "array":
        return listOf(one);
      case "object":
        return objectOf(one);
    }
  }

  function listOf({ items = {}, minItems = 0, maxItems = Infinity }: JsonSchema) {
    const range = { minLength: minItems, maxLength: Math.max(minItems, Math.min(maxItems, 2)) };
    return fc.array(of(items), { ...range, size: "max" });
  }

  function objectOf({
    properties = {},
    required = [],
    minProperties = 0,
    maxProperties = Infinity,
  }: JsonSchema) {
    const isFull = required.length >= maxProperties;
    const possible = Object.entries(properties).filter(
      ([name, schema]) => schema.not === undefined && (!isFull || required.includes(name)),
    );
    const members = possible.map(([name, schema]) => [name, hinted(name, schema)] as const);
    return fc
      .record(Object.fromEntries(members), { requiredKeys: [...required], noNullPrototype: true })
      .filter((value) => Object.keys(value).length >= minProperties);
  }

  function hinted(name: string, schema: JsonSchema): fc.Arbitrary<Json> {
    const fitting = (hints[name] ?? []).filter((value) => takes(schema, value));
    if (fitting.length === 0) return of(schema);
    return fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...fitting) }, of(schema));
  }
}

/** Without numbers where a text is meant whose form none of them has. */
function typesOf(schema: JsonSchema): JsonType[] {
  const types = [schema.type ?? []].flat() as JsonType[];
  const { format, pattern } = schema;
  if (!types.includes("string") || (format ?? pattern) === undefined) return types;
  const isFormed = [-1, 0, 0.5, 7, 42, 1234].some((number) =>
    takes({ ...schema, type: "string" }, String(number)),
  );
  return isFormed ? types : types.filter((name) => name !== "number" && name !== "integer");
}

/** Members of a branch are added to those of the object that contains it. */
const overlaid = (base: JsonSchema, branch: JsonSchema): JsonSchema => ({
  ...base,
  required: [...(base.required ?? []), ...(branch.required ?? [])],
  properties: {
    ...base.properties,
    ...Object.fromEntries(
      Object.entries(branch.properties ?? {}).map(([name, schema]) => [
        name,
        schema.not === undefined ? { ...base.properties?.[name], ...schema } : schema,
      ]),
    ),
  },
});

const anyValues: readonly Json[] = [null, true, 7, "some text", [1, "a"], { a: { b: [] } }];

/** `isText`: the number can also be a string of digits, which then obeys the rules of strings. */
function numberOf(schema: JsonSchema, isText: boolean): fc.Arbitrary<Json> {
  const { type, multipleOf } = schema;
  const isWhole = [type].flat().includes("integer");
  const unit = multipleOf ?? (isWhole || isText ? 1 : 0.5);
  const min = Math.max(schema.minimum ?? -Infinity, (schema.exclusiveMinimum ?? -Infinity) + unit);
  const max = Math.min(schema.maximum ?? Infinity, (schema.exclusiveMaximum ?? Infinity) - unit);
  const [low, high] = [Math.max(min, -100), Math.min(max, 100)];
  const range = low <= high ? { low, high } : { low: min, high: Math.min(max, min + 100) };
  return fc
    .integer({ min: Math.ceil(range.low / unit), max: Math.floor(range.high / unit) })
    .map((count) => Number((count * unit).toFixed(6)))
    .filter((number) => !isText || takes({ ...schema, type: "string" }, String(number)));
}

const dates = fc.date({
  min: new Date("1990-01-01"),
  max: new Date("2030-01-01"),
  noInvalidDate: true,
});

const formats: Readonly<Record<string, fc.Arbitrary<string>>> = {
  date: dates.map((date) => date.toISOString().slice(0, 10)),
  "date-time": dates.map((date) => date.toISOString()),
  uuid: fc.uuid(),
  email: fc.constantFrom("a@example.org", "some.body@example.com"),
  uri: fc.constantFrom("https://example.org/", "http://example.com/a?b=c"),
};

function textOf(schema: JsonSchema): fc.Arbitrary<string> {
  const { format, pattern, examples, contentEncoding, minLength = 0, maxLength } = schema;
  const isNumber = typesOf(schema).some((name) => name === "integer" || name === "number");
  const length = { minLength, maxLength: Math.max(minLength, Math.min(maxLength ?? 12, 12)) };
  // A pattern alone also matches texts that are no number, or time, of that form.
  if (pattern !== undefined && isNumber) return numberOf(schema, true).map(String);
  if (pattern !== undefined && examples !== undefined)
    return fc.constantFrom(...examples.map(String));
  if (format !== undefined) return formats[format]!;
  if (contentEncoding !== undefined)
    return fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes).toString("base64"));
  const texts =
    pattern === undefined
      ? fc.string({ ...length, unit: maxLength === undefined ? "grapheme" : "grapheme-ascii" })
      : fc.stringMatching(new RegExp(pattern));
  return texts.filter((text) => takes({ ...schema, type: "string" }, text));
}

/** Values put in place of valid ones. None is an alternative form of a valid value. */
const oddities: readonly Json[] = [
  null,
  true,
  -1,
  0.5,
  1e15,
  "no such value",
  "",
  [],
  [[]],
  {},
  { odd: 1 },
];

/** An invalid value made from a valid one, with a member or item replaced, left out, added or renamed. */
export const bentOf = (schema: JsonSchema, hints: Hints = {}): fc.Arbitrary<Json> =>
  fc
    .tuple(valuesOf(schema, hints), fc.nat(), fc.nat(), fc.constantFrom(...oddities))
    .map(([value, place, way, odd]) => bent(value, { place, way, odd }))
    .filter((value) => isObject(value) && !takes(schema, value));

interface Bend {
  readonly place: number;
  readonly way: number;
  readonly odd: Json;
}

/** Bends one of the places within the value: 0 is the first member, and so on into the depth. */
function bent(value: Json, { place, way, odd }: Bend): Json {
  const copy = structuredClone(value);
  const places: (() => void)[] = [];
  collect(copy);
  if (isObject(copy)) places.push(() => void (copy["oddMember"] = odd));
  places[place % places.length]?.();
  return copy;

  function collect(within: Json): void {
    if (Array.isArray(within)) {
      for (const [at, item] of within.entries()) {
        places.push(() => void (within[at] = odd));
        collect(item);
      }
      places.push(() => {
        const length = way % 8 === 0 ? 1_001 : 101;
        within.push(...Array.from({ length }, () => within[0] ?? odd));
      });
    } else if (isObject(within)) {
      for (const [name, member] of Object.entries(within)) {
        places.push(() => {
          if (way % 3 === 0) delete within[name];
          else within[name] = odd;
        });
        collect(member as Json);
      }
    }
  }
}
