/** Short forms of schemas: they take what the schemas take, and stay short. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mergedSchema } from "../../core/agents/merged-schema.ts";
import { agentLimits } from "../../core/values/agent-limits.ts";
import { object } from "../../core/grammar/grammar.ts";
import { selectColumns } from "../../core/query/select.ts";
import { sortColumns } from "../../core/query/sort.ts";
import { equalities, treeOrPairs, where } from "../../core/query/where.ts";
import type { JsonSchema } from "../../core/values/json-schema.ts";
import { takes } from "../openapi/json-schema.ts";
import { valuesOf } from "../openapi/schema-values.ts";
import { column, columnsOf } from "../values/column.ts";

const columns = columnsOf(
  column("text", { name: "name", lengthMax: 20 }),
  column("integer", { name: "qty" }),
  column("decimal", { name: "price", precision: 12, scale: 2 }),
  column("boolean", { name: "open" }),
  column("date", { name: "day" }),
  column("timestamp", { name: "at" }),
);
const grammars = {
  where: where(columns),
  pairs: treeOrPairs(columns, { single: true }),
  equal: equalities(columns, { single: true }),
  list: object({ select: selectColumns(columns), sort_columns: sortColumns(columns) }),
};

/** Second spellings are the only thing that a short form lacks. */
const inUpperCase = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll(/"(asc|desc|and|or)"/g, (one) => one.toUpperCase()));

test.for(Object.entries(grammars))(
  "the short form of %s takes all that it takes",
  ([, grammar]) => {
    const schema = grammar.schema();
    const short = mergedSchema([schema]);
    fc.assert(
      fc.property(valuesOf(schema), (value) => takes(short, inUpperCase(value))),
      { seed: 1, numRuns: 300 },
    );
  },
);

test("the short form of a where is short, and names columns and operators", () => {
  const short = mergedSchema([grammars.where.schema()]);
  const text = JSON.stringify(short);
  expect(text.length).toBeLessThan(1_500);
  expect(text.length).toBeLessThan(JSON.stringify(grammars.where.schema()).length / 10);
  for (const name of [...columns.keys(), "BETWEEN", "IS NULL"]) expect(text).toContain(`"${name}"`);
});

describe("of several schemas", () => {
  test.for<[string, JsonSchema[], JsonSchema]>([
    [
      "equal ones stay",
      [
        { type: "string", maxLength: 3 },
        { type: "string", maxLength: 3 },
      ],
      { type: "string", maxLength: 3 },
    ],
    [
      "types are joined",
      [{ type: "string" }, { type: ["integer", "null"] }],
      { type: ["string", "integer", "null"] },
    ],
    [
      "values are joined",
      [{ enum: ["a", null] }, { const: "b" }],
      { type: ["string", "null"], enum: ["a", null, "b"] },
    ],
    [
      "values beside a free text are not listed",
      [{ enum: ["a"] }, { type: "string" }],
      { type: "string" },
    ],
    [
      "the wider bound holds",
      [
        { type: "integer", minimum: 1, maximum: 5 },
        { type: "integer", minimum: 0 },
      ],
      { type: "integer", minimum: 0 },
    ],
    ["any value takes all", [{}, { type: "string" }], {}],
    [
      "members are joined, and required where all require them",
      [
        {
          type: "object",
          properties: { a: { type: "string" }, b: { type: "string" } },
          required: ["a", "b"],
        },
        { type: "object", properties: { a: { type: "integer" } }, required: ["a"] },
      ],
      {
        type: "object",
        properties: { a: { type: ["string", "integer"] }, b: { type: "string" } },
        required: ["a"],
      },
    ],
    [
      "members that must be absent, or are only answered, are left out",
      [
        {
          type: "object",
          properties: { a: { not: {} }, b: { readOnly: true }, c: { type: "string" } },
        },
      ],
      { type: "object", properties: { c: { type: "string" } } },
    ],
    ["no schema takes anything", [], {}],
  ])("%s", ([, schemas, short]) => {
    expect(mergedSchema(schemas)).toEqual(short);
  });

  test("more names than a prompt should have become a text", () => {
    const names = Array.from({ length: agentLimits.namesListedMax + 1 }, (_, at) => `column_${at}`);
    expect(mergedSchema([{ enum: names }])).toMatchObject({
      description: expect.stringContaining("describe"),
    });
    expect(mergedSchema([{ enum: names.slice(1) }])).toEqual({ enum: names.slice(1) });
  });
});
