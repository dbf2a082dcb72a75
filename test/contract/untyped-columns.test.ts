/** SQLite columns that hold values of any type: a text stays unchanged, and other values are shown as texts. */
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { record, records } from "./cases.ts";
import { type Fixture, openFixture } from "./harness.ts";

describe.runIf(inject("engine") === "sqlite")("columns of any type", () => {
  let service: Fixture;
  beforeAll(async () => {
    service = await openFixture({
      tables: [],
      setUp: () => [
        "create table strict_things (id integer primary key, value any) strict",
        "create table free_things (id integer primary key, value)",
        ...["strict_things", "free_things"].map(
          (table) => `insert into ${table} values (1, 5), (2, 1.5), (3, '5'), (4, x'00ff')`,
        ),
      ],
      endpoints: Object.fromEntries(
        ["strict_things", "free_things"].map((tableName) => [
          tableName,
          { tableName, action: { read: true, create: true } },
        ]),
      ),
      project: { cache: { enabled: false } },
    });
  });
  afterAll(() => service.close());

  describe.each(["strict_things", "free_things"])("%s", (table) => {
    test("are shown as texts, and found by numbers and texts", async () => {
      const all = await service.post(`${table}/read`, { page: 1 });
      expect(records(all).map(({ value }) => value)).toEqual(["5", "1.5", "5", "AP8="]);
      for (const value of [5, "5"]) {
        const where = { conditions: [{ key: "value", operator: "=", value }] };
        const found = await service.post(`${table}/read`, { where });
        expect(records(found).map(({ id }) => id)).toEqual([1, 3]);
      }
    });

    test.each([
      ["!=", "five", [1, 2, 3, 4]],
      ["!=", "5", [2, 4]],
      ["NOT IN", ["five", "1.5"], [1, 3, 4]],
      ["NOT BETWEEN", ["five", "six"], [1, 2, 3, 4]],
      ["<", "five", [1, 2, 3, 4]],
      [">", "five", []],
      ["IN", ["five", "5"], [1, 3]],
    ])("compare numbers with words by %s", async (operator, value, ids) => {
      const where = { conditions: [{ key: "value", operator, value }] };
      const found = await service.post(`${table}/read`, { where });
      expect(records(found).map(({ id }) => id)).toEqual(ids);
    });

    test("keep a text as it was sent", async () => {
      const created = await service.post(`${table}/create`, { id: 9, value: "007" });
      expect(record(created)).toMatchObject({ value: "007" });
      const [stored] = await service.sql(`select typeof(value) as kind from ${table} where id = 9`);
      expect(stored).toEqual({ kind: "text" });
      await service.sql(`delete from ${table} where id = 9`);
    });
  });
});

describe.runIf(inject("engine") === "sqlite")(
  "columns that hold another class than declared",
  () => {
    let service: Fixture;
    const declared = {
      whole: "integer",
      part: "decimal(10,2)",
      cash: "money",
      float: "real",
      digits: "text",
    };
    const columns = Object.keys(declared);
    const least = "-9223372036854775808";
    const strays = ["n/a", "", "  ", "0x10", "1,50", "NaN", "Infinity"];
    beforeAll(async () => {
      const list = Object.entries(declared).map(([name, native]) => `${name} ${native}`);
      service = await openFixture({
        tables: [],
        setUp: () => [
          `create table strays (id integer primary key, ${list.join(", ")})`,
          ...strays.map(
            (text, at) =>
              `insert into strays values (${at}, ${columns.map(() => `'${text}'`).join(", ")})`,
          ),
          `insert into strays (id, cash) values (99, ${least})`,
        ],
        endpoints: {
          strays: {
            tableName: "strays",
            fieldValidation: [{ name: "digits", type: "decimal" }],
            action: { read: true, export: true },
          },
        },
      });
    });
    afterAll(() => service.close());

    test.each(strays.map((text, id) => ({ text, id })))(
      "show $text as it is stored",
      async ({ text, id }) => {
        const where = { conditions: [{ key: "id", operator: "=", value: id }] };
        const found = await service.post("strays/read", { where });
        const stored = Object.fromEntries(columns.map((name) => [name, text]));
        expect(records(found)).toEqual([{ id, ...stored }]);
      },
    );

    test.each([
      { text: "n/a", search: {}, ids: [0] },
      { text: least, search: { search_by: "cash" }, ids: [99] },
    ])("search $text beside an integer that has no absolute value", async (one) => {
      const found = await service.post("strays/read", { search_value: one.text, ...one.search });
      expect(found.status, JSON.stringify(found.body)).toBe(200);
      expect(records(found).map(({ id }) => id)).toEqual(one.ids);
    });
  },
);
