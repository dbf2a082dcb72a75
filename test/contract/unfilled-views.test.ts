/** A stored view that has no data yet, which only PostgreSQL has. */
import { describe, expect, inject, test } from "vitest";
import { openFixture, openForTests } from "./harness.ts";

const action = {
  export: true,
  read: true,
  first: true,
  datatables: true,
  lookup: true,
  aggregate: true,
};
const requests: readonly (readonly [string, object])[] = [
  ["read", { page: 1, per_page: 5 }],
  ["first", { where: { key: "id", value: "a" } }],
  ["datatables", { draw: 1, start: 0, length: 5 }],
  ["lookup", { page: 1 }],
  ["aggregate", { aggregates: [{ function: "COUNT", column: "*", alias: "n" }] }],
];

describe.runIf(inject("engine") === "postgres")("a view that was never filled", () => {
  const fixture = openForTests(openFixture, {
    tables: [{ name: "items", columns: { id: "key", name: "text(40)" } }],
    setUp: () => [
      "insert into items values ('a', 'Anvil')",
      "create materialized view stored as select id, name from items with no data",
    ],
    endpoints: {
      stored: {
        tableName: "stored",
        primaryKey: "id",
        action,
        fieldNameLookup: { id: "id", text: "name" },
      },
    },
  });

  test.each(requests)("says so in the answer to %s", async (path, body) => {
    const answer = await fixture.post(`stored/${path}`, body, { "X-Request-Mode": "static" });
    expect(answer.status, JSON.stringify(answer.body)).toBe(503);
    expect(answer.body.message).toBe(
      "The data of this view have not been computed yet; refresh it in the database, then try again",
    );
  });

  // All tries would take eight seconds at least.
  test("ends an export at its first try", async () => {
    const { body } = await fixture.post("stored/export", {});
    const path = `/api/test/stored/export-status?job_id=${body.job_id}`;
    const failed = { status: "failed", error: expect.stringMatching(/have not been computed yet/) };
    await expect
      .poll(async () => (await fixture.request(path)).body, { timeout: 7_000 })
      .toMatchObject(failed);
  });

  test("answers once it is filled", async () => {
    await fixture.sql("refresh materialized view stored");
    const { body } = await fixture.post("stored/read", { page: 1, per_page: 5 });
    expect(body.data).toEqual([{ id: "a", name: "Anvil" }]);
  });
});
