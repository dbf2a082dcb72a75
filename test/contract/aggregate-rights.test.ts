/** Declared joins of `aggregate` for callers with access to all of the joined table, a part of it, or none. */
import { describe, expect, test } from "vitest";
import { apiKey, by } from "./api-keys.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";

const roles = ["reader", "part-reader", "stranger"] as const;
const join = { tableName: "places", sourceField: "place_id", targetField: "place_id" };

const fixture = openForTests(openFixture, {
  project: { auth: { apiKeys: roles.map((id) => apiKey(id)) } },
  tables: [
    {
      name: "places",
      columns: { place_id: "key", name: "text(20)", owner: "text(20)", floor: "integer" },
    },
    { name: "items", columns: { item_id: "key", place_id: "text(36)" } },
  ],
  setUp: () => [
    "insert into places (place_id, name, owner, floor) values ('p', 'Shed', 'Ann', 3)",
    "insert into items (item_id, place_id) values ('i', 'p')",
  ],
  endpoints: {
    items: {
      tableName: "items",
      action: { aggregate: true },
      access: { "*": ["aggregate"] },
      aggregateConfig: { joins: { place: { ...join, fields: ["name", "owner"] } } },
    },
    places: {
      tableName: "places",
      action: { read: true },
      access: { reader: ["read"], "part-reader": ["read"] },
      hiddenFields: { "part-reader": ["owner"] },
    },
  },
});

const operations = [{ function: "count", field: "*", alias: "n" }];
const grouped = (id: string, field: string): Promise<Answer> =>
  fixture.post(
    "items/aggregate",
    { joins: ["place"], operations, group_by: [`place.${field}`] },
    by(id),
  );

describe("a field of a declared join", () => {
  test.each([
    ["reader", "name", [{ "place.name": "Shed", n: 1 }]],
    ["reader", "owner", [{ "place.owner": "Ann", n: 1 }]],
    ["part-reader", "name", [{ "place.name": "Shed", n: 1 }]],
  ])("is shown to a %s of the table: %s", async (id, field, expected) => {
    const { status, body } = await grouped(id, field);
    expect([status, body.data]).toEqual([200, expected]);
  });

  test.each([
    ["part-reader", "owner"],
    ["stranger", "owner"],
    ["stranger", "name"],
  ])("is to a %s like one that there is not: %s", async (id, field) => {
    const known = await grouped(id, field);
    const unknown = await grouped(id, "nothing");
    const gist = ({ status, body }: Answer, name: string): unknown[] => [
      status,
      body.error,
      body.message.replaceAll(name, "…"),
    ];
    expect(gist(known, field)).toEqual(gist(unknown, "nothing"));
    expect(known.status).toBe(400);
  });

  test("that a stranger may not see leaves the count of its rows", async () => {
    const headers = { "x-api-key": "key of stranger" };
    const { status, body } = await fixture.post(
      "items/aggregate",
      { joins: ["place"], operations },
      headers,
    );
    expect([status, body.data]).toEqual([200, { n: 1 }]);
  });
});
