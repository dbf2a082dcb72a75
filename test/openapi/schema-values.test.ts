import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonSchema } from "../../core/values/json-schema.ts";
import { takes } from "./json-schema.ts";
import { valuesOf } from "./schema-values.ts";

/** Schemas whose parts restrict each other so much that a generator that retries at random would never end. */
const narrow: readonly JsonSchema[] = [
  { type: ["string", "number", "null"], pattern: "^[a-z]+$", maxLength: 200 },
  { type: ["string", "integer"], pattern: "^-?[0-9]+$" },
  { type: ["string", "number"], format: "date" },
  { type: "object", properties: { a: { type: "integer" } }, minProperties: 1 },
  { type: "string", minLength: 3, maxLength: 3 },
];

describe("values made from a schema", () => {
  test.each(narrow)("end, and are taken by it: %j", (schema) => {
    const values = fc.sample(valuesOf(schema), { numRuns: 300, seed: 1 });
    expect(values.filter((value) => !takes(schema, value))).toEqual([]);
  });
});
