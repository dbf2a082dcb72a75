/** Schemas of version 3.0: they take the same values as those of 3.1. The linter checks whole documents. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import type { JsonSchema } from "../../core/values/json-schema.ts";
import { schemaOf30 } from "../../core/openapi/openapi-30.ts";

const values = [
  null,
  true,
  "",
  "a",
  "b",
  0,
  1,
  1.5,
  2,
  [],
  [null],
  ["a"],
  {},
  { a: null },
  { a: 1 },
];

test.each<[string, JsonSchema, unknown]>([
  ["a type", { type: "string" }, { type: "string" }],
  ["a type or null", { type: ["string", "null"] }, { type: "string", nullable: true }],
  [
    "several types",
    { type: ["string", "integer"], maxLength: 1 },
    { maxLength: 1, anyOf: [{ type: "string" }, { type: "integer" }] },
  ],
  [
    "several types or null",
    { type: ["string", "number", "null"] },
    { anyOf: [{ type: "string", nullable: true }, { type: "number" }] },
  ],
  ["null alone", { type: "null" }, { type: "string", nullable: true, enum: [null] }],
  ["a constant", { const: "a" }, { type: "string", enum: ["a"] }],
  ["null as a constant", { const: null }, { type: "string", nullable: true, enum: [null] }],
  [
    "values of one type and null",
    { enum: ["a", null] },
    { type: "string", nullable: true, enum: ["a", null] },
  ],
  [
    "values of several types",
    { enum: ["a", 1, true] },
    {
      anyOf: [
        { type: "string", enum: ["a"] },
        { type: "number", enum: [1] },
        { type: "boolean", enum: [true] },
      ],
    },
  ],
  [
    "values among types",
    { type: ["string", "integer", "null"], enum: ["a", null] },
    { type: "string", nullable: true, enum: ["a", null] },
  ],
  [
    "a schema or null",
    { anyOf: [{ type: "integer", minimum: 1 }, { type: "null" }] },
    { anyOf: [{ type: "integer", minimum: 1, nullable: true }] },
  ],
  ["an exclusive limit", { exclusiveMinimum: 1 }, { minimum: 1, exclusiveMinimum: true }],
  ["the stricter of two limits", { minimum: 2, exclusiveMinimum: 1 }, { minimum: 2 }],
  [
    "an exclusive limit that is the stricter one",
    { maximum: 2, exclusiveMaximum: 1 },
    { maximum: 1, exclusiveMaximum: true },
  ],
  ["a list of anything", { type: "array" }, { type: "array", items: {} }],
  [
    "a list of texts or null",
    { type: ["array", "null"], items: { type: ["string", "null"] } },
    { type: "array", nullable: true, items: { type: "string", nullable: true } },
  ],
  [
    "an object",
    { type: "object", properties: { a: { type: ["integer", "null"] } }, additionalProperties: {} },
    {
      type: "object",
      properties: { a: { type: "integer", nullable: true } },
      additionalProperties: {},
    },
  ],
  ["nothing", { not: {} }, { not: {} }],
  ["examples", { examples: ["a", "b"] }, { example: "a" }],
  ["bytes", { type: "string", contentEncoding: "base64" }, { type: "string", format: "byte" }],
  [
    "types and branches",
    { type: ["string", "integer"], anyOf: [{ const: "a" }, { const: 1 }] },
    {
      anyOf: [
        { type: "string", enum: ["a"] },
        { type: "number", enum: [1] },
      ],
      allOf: [{ anyOf: [{ type: "string" }, { type: "integer" }] }],
    },
  ],
])("%s", (_title, schema, expected) => {
  const then = schemaOf30(schema as never);
  expect(then).toEqual(expected);
  const ajv = new Ajv2020({ strict: false });
  const [now, later] = [schema, inWordsOf31(then)].map((one) => ajv.compile(one as object));
  for (const value of values) expect([value, later!(value)]).toEqual([value, now!(value)]);
});

test("what stands beside a reference counts", () => {
  expect(schemaOf30({ $ref: "#/a", description: "b" })).toEqual({
    allOf: [{ $ref: "#/a" }, { description: "b" }],
  });
});

// oxlint-disable-next-line no-explicit-any -- schemas are read as JSON
function inWordsOf31(part: any): any {
  if (Array.isArray(part)) return part.map(inWordsOf31);
  if (typeof part !== "object" || part === null) return part;
  const { nullable, exclusiveMinimum, exclusiveMaximum, minimum, maximum, ...same } = part;
  const limit = (name: string, value: unknown, isExclusive: unknown): object =>
    value === undefined ? {} : { [isExclusive === true ? `exclusiveM${name}` : `m${name}`]: value };
  return {
    ...Object.fromEntries(Object.entries(same).map(([name, own]) => [name, inWordsOf31(own)])),
    ...(nullable === true && { type: [same.type, "null"] }),
    ...limit("inimum", minimum, exclusiveMinimum),
    ...limit("aximum", maximum, exclusiveMaximum),
  };
}
