/** Types that rules give to loosely typed SQLite columns; the other engines' types are always exact. */
import { describe, expect, test } from "vitest";
import { openFixture, openForTests } from "../contract/harness.ts";

describe("on SQLite", () => {
  const fixture = openForTests(openFixture, {
    tables: [],
    setUp: () => ["CREATE TABLE loose (id TEXT PRIMARY KEY, amount TEXT, rate REAL, done INTEGER)"],
    endpoints: {
      loose: {
        tableName: "loose",
        action: { create: true, first: true, read: true, adjust: true },
        fieldValidation: {
          amount: { type: "decimal" },
          rate: { type: "decimal", scale: 2 },
          done: { type: "boolean" },
        },
        adjustConfig: {
          fields: { amount: { type: "decimal", min: 0 }, rate: { type: "decimal" } },
        },
      },
    },
  });

  const long = "12345678901234567890.000000000000000000000000000001";

  test("a decimal rule on a TEXT column keeps any number of digits, and adjust adds to all of them", async () => {
    const created = await fixture.post("loose/create", { id: "a", amount: long });
    expect(created.body.data).toMatchObject({ id: "a", amount: long });
    const delta = `{"id":"a","adjustments":[{"field":"amount","value":0.000000000000000000000000000002}]}`;
    expect((await fixture.post("loose/adjust", delta)).body.data.amount).toBe(
      "12345678901234567890.000000000000000000000000000003",
    );
    const below = {
      id: "a",
      adjustments: [
        { field: "amount", value: -12345678901234567000 },
        { field: "amount", value: -1000 },
      ],
    };
    expect((await fixture.post("loose/adjust", below)).status).toBe(409);
  });

  test("a decimal rule on a TEXT column compares and sorts by value, not by text", async () => {
    for (const [id, amount] of [
      ["n9", "9"],
      ["n10", "10"],
      ["n-1", "-1"],
    ]) {
      expect((await fixture.post("loose/create", { id, amount })).status).toBe(201);
    }
    const where = { conditions: [{ key: "amount", operator: "BETWEEN", value: [-5, 10] }] };
    const read = await fixture.post("loose/read", {
      where,
      sort_columns: [{ column: "amount", direction: "ASC" }],
    });
    expect(read.body.data.map((row: { amount: number }) => row.amount)).toEqual([-1, 9, 10]);
  });

  test("a decimal rule on a REAL column refuses what its scale cannot hold, and rounds what SQLite computes", async () => {
    expect((await fixture.post("loose/create", { id: "r", rate: 0.105 })).status).toBe(400);
    expect((await fixture.post("loose/create", { id: "r", rate: 0.1 })).status).toBe(201);
    const adjusted = await fixture.post("loose/adjust", {
      id: "r",
      adjustments: [{ field: "rate", value: 0.2 }],
    });
    expect(adjusted.body.data.rate).toBe(0.3);
  });

  test("a boolean rule on an INTEGER column shows true and false", async () => {
    const created = await fixture.post("loose/create", { id: "b", done: true });
    expect(created.body.data.done).toBe(true);
    expect((await fixture.sql("SELECT typeof(done) AS type FROM loose WHERE id = 'b'"))[0]).toEqual(
      { type: "integer" },
    );
    expect((await fixture.post("loose/create", { id: "b2", done: 7 })).status).toBe(400);
  });
});
