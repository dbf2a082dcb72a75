/** Every column type on every engine: a stored value is read back in the one form that answers show. */
import { describe, expect, test } from "vitest";
import type { Json } from "../../core/values/json.ts";
import { type Condition, equals } from "../../core/query/statement.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import {
  column,
  insert,
  insertAll,
  reopen,
  select,
  session,
  set,
  update,
  useBench,
} from "./conformance.ts";
import { bareSession } from "./bare-session.ts";

const bench = useBench();

let count = 0;
const newId = (): string => `v${++count}`;

const values: readonly (readonly [name: string, value: Scalar, shown: Json])[] = [
  ["short", "", ""],
  ["short", " blanks  ", " blanks  "],
  ["short", "ÄöÜß日本🎉", "ÄöÜß日本🎉"],
  ["short", "'; drop--", "'; drop--"],
  ["short", 'a\\b%_"`?', 'a\\b%_"`?'],
  ["long", "line\r\n\ttab", "line\r\n\ttab"],
  ["long", "x".repeat(60_000), "x".repeat(60_000)],
  ["small", 32_767n, 32_767],
  ["small", -32_768n, -32_768],
  ["whole", 2_147_483_647n, 2_147_483_647],
  ["whole", -2_147_483_648n, -2_147_483_648],
  ["whole", 0n, 0],
  ["big", 9_007_199_254_740_991n, 9_007_199_254_740_991],
  ["big", 9_007_199_254_740_993n, "9007199254740993"],
  ["big", -9_223_372_036_854_775_808n, "-9223372036854775808"],
  ["big", 9_223_372_036_854_775_807n, "9223372036854775807"],
  ["price", "0.1", 0.1],
  ["price", "-12.5", -12.5],
  ["price", "9999999999.99", 9_999_999_999.99],
  ["price", "0", 0],
  ["ratio", 1.1, 1.1],
  ["ratio", 1e300, 1e300],
  ["ratio", -5, -5],
  ["flag", true, true],
  ["flag", false, false],
  ["day", "2024-02-29", "2024-02-29"],
  ["day", "1000-01-01", "1000-01-01"],
  ["day", "9999-12-31", "9999-12-31"],
  ["moment", "2024-02-29T12:34:56.789Z", "2024-02-29T12:34:56.789Z"],
  ["moment", "2024-03-31T01:30:00.000Z", "2024-03-31T01:30:00.000Z"],
  ["moment", "1000-01-01T00:00:00.000Z", "1000-01-01T00:00:00.000Z"],
  ["moment", "9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
  ["hour", "00:00:00", "00:00:00"],
  ["hour", "23:59:59", "23:59:59"],
  ["uid", "0b9d0d6e-3f6f-4b8e-9d53-0a1c2b3d4e5f", "0b9d0d6e-3f6f-4b8e-9d53-0a1c2b3d4e5f"],
  ["data", '{"a":[1,"x",null,true],"b":{"c":1.5}}', { a: [1, "x", null, true], b: { c: 1.5 } }],
  ["data", '"text"', "text"],
  ["data", "17", 17],
  ["data", "[]", []],
  ["file", new Uint8Array([0, 1, 255, 254, 39, 92]), "AAH//idc"],
  ["file", new Uint8Array(0), ""],
];

/** JSON has no equality that all engines share, and bytes are not filtered. */
const isComparable = (name: string): boolean => !["data", "file", "ratio"].includes(name);

describe("a value", () => {
  test.each(values)("%s %s is stored, answered and found again", async (name, value, shown) => {
    const id = newId();
    const expected = value instanceof Uint8Array ? Buffer.from(value).toString("base64") : shown;
    const db = session(bench);
    const [created] = await db.insert(insert(bench.kinds, { id, [name]: value }, ["id", name]));
    expect(created).toEqual({ id, [name]: expected });
    const key = equals(column(bench.kinds, "id"), id);
    const where: Condition = {
      kind: "and",
      members: [key, equals(column(bench.kinds, name), value)],
    };
    const read = select(bench.kinds, [name], { where: isComparable(name) ? where : key });
    expect(await db.one(read)).toEqual({ [name]: expected });
    const updated = await db.updateOne(
      update(bench.kinds, id, [set(bench.kinds, name, value)], { returning: ["id", name] }),
    );
    expect(updated).toEqual(created);
  });

  test("is stored in its own row and column among many, beside nulls", async () => {
    const texts = ["", "NULL", "null", "{}", '","', '"', "\\", '\\"', "a\nb", "{{1},{2}}", " "];
    const all = [...values, ...texts.map((text) => ["short", text, text] as const)];
    const named = [...new Set(all.map(([name]) => name))];
    const none = Object.fromEntries(named.map((name) => [name, null]));
    const prefix = newId();
    const rows = all.map(([name, value], at) => ({
      id: `${prefix}-${at}`,
      ...none,
      [name]: value,
    }));
    const db = session(bench);
    const created = await db.insert(insertAll(bench.kinds, rows, ["id", ...named]));
    const expected = all.map(([name, value, shown], at) => ({
      ...rows[at],
      [name]: value instanceof Uint8Array ? Buffer.from(value).toString("base64") : shown,
    }));
    expect(created).toEqual(expected);
    for (const [at, row] of expected.entries()) {
      const where = equals(column(bench.kinds, "id"), `${prefix}-${at}`);
      expect(await db.one(select(bench.kinds, ["id", ...named], { where }))).toEqual(row);
    }
  });

  test.each([...new Set(values.map(([name]) => name))])("null in %s stays null", async (name) => {
    const id = newId();
    const db = session(bench);
    const [created] = await db.insert(insert(bench.kinds, { id, [name]: null }, [name]));
    expect(created).toEqual({ [name]: null });
    const where: Condition = {
      kind: "and",
      members: [equals(column(bench.kinds, "id"), id), equals(column(bench.kinds, name), null)],
    };
    expect(
      await db.count({
        kind: "count",
        source: { kind: "table", schema: null, name: "kinds", columns: new Map() },
        where,
      }),
    ).toBe(1);
  });

  test("is text where decimals are asked for as text", async () => {
    const db = await reopen(bench, { decimals: "string" });
    try {
      const kinds = (await db.catalog.table("kinds"))!;
      const own = bareSession(db, performance.now() + 10_000);
      const row = { id: newId(), big: 7n, whole: 8n, price: "1.5" };
      const [created] = await own.insert(insert(kinds, row, ["big", "whole", "price"]));
      expect(created).toMatchObject({ big: "7", whole: 8 });
      expect(Number(created!["price"])).toBe(1.5);
      expect(created!["price"]).toBeTypeOf("string");
    } finally {
      await db.close();
    }
  });
});

describe("the catalog", () => {
  test("knows every column's type", () => {
    const types = Object.fromEntries(
      [...bench.kinds.columns.values()].map(({ name, type }) => [name, type]),
    );
    expect(types).toEqual({
      id: "text",
      short: "text",
      long: "text",
      small: "integer",
      whole: "integer",
      big: "integer",
      price: "decimal",
      ratio: "float",
      flag: "boolean",
      day: "date",
      moment: "timestamp",
      hour: "time",
      uid: "uuid",
      data: "json",
      file: "bytes",
    });
  });

  test("knows keys, defaults and references", () => {
    const { people } = bench;
    expect(people.primaryKey).toEqual(["id"]);
    expect(people.columns.get("id")).toMatchObject({
      generated: "identity",
      nullable: false,
      hasDefault: true,
    });
    expect(people.columns.get("name")).toMatchObject({
      nullable: false,
      hasDefault: true,
      lengthMax: 20,
    });
    expect(people.columns.get("code")).toMatchObject({
      nullable: true,
      hasDefault: false,
      generated: "none",
    });
    expect(people.unique.map(({ columns }) => columns)).toEqual(
      expect.arrayContaining([["id"], ["code"], ["first", "second"]]),
    );
    expect(people.foreignKeys).toMatchObject([{ columns: ["parent"], referencedTable: "parents" }]);
    expect(people.columns.get("price")).toMatchObject({ precision: 12, scale: 2 });
  });

  test("answers null for a table that is not there", async () => {
    expect(await bench.db.catalog.table("nothing")).toBeNull();
    expect(await bench.db.catalog.table("nowhere.nothing")).toBeNull();
  });

  test("names tables and views", async () => {
    expect(await bench.db.catalog.names()).toEqual(
      expect.arrayContaining(["kinds", "parents", "people"]),
    );
  });

  test("tells a query's columns without running it", async () => {
    const columns = await bench.db.catalog.query("select id, price, name from people -- all\n;");
    expect(columns.map(({ name, type, nullable }) => [name, type, nullable])).toEqual([
      ["id", "integer", true],
      ["price", "decimal", true],
      ["name", "text", true],
    ]);
  });

  test.each([
    ["a syntax error", "selec 1"],
    ["an unknown column", "select nonsense from people"],
    ["a second statement", "select 1 as a; select 2 as b"],
    ["a statement that writes", "delete from people"],
    ["two columns of one name", "select id, id from people"],
  ])("refuses %s in a query", async (_case, text) => {
    await expect(bench.db.catalog.query(text)).rejects.toThrow(/.+/);
  });
});
