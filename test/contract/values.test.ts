/** Each type of value in requests and answers: what create answers, and that first answers the same. */
import { describe, expect, test } from "vitest";
import { record } from "./cases.ts";
import { shopOptions } from "./fixture.ts";
import { openFixture } from "./harness.ts";
import { openShop } from "./shop.ts";

const shop = openShop();

/** `shown` is omitted where the value comes back as it was sent. */
interface Trip {
  what: string;
  column: string;
  sent: unknown;
  shown?: unknown;
}

const trips: Trip[] = [
  { what: "an integer", column: "whole", sent: 2147483647 },
  { what: "a negative integer", column: "whole", sent: -2147483648 },
  { what: "zero", column: "whole", sent: 0 },
  { what: "an integer sent as text", column: "whole", sent: "42", shown: 42 },
  { what: "a small integer", column: "small", sent: -32768 },
  { what: "the largest safe integer", column: "big", sent: 9007199254740991 },
  { what: "an integer beyond the safe ones as digits", column: "big", sent: "9007199254740993" },
  { what: "the largest 64-bit integer", column: "big", sent: "9223372036854775807" },
  { what: "the smallest 64-bit integer", column: "big", sent: "-9223372036854775808" },
  { what: "the largest unsigned integer", column: "unsigned", sent: 4294967295 },
  { what: "a decimal", column: "money", sent: 12.34 },
  { what: "a decimal without its zeros", column: "money", sent: "12.50", shown: 12.5 },
  { what: "a whole decimal", column: "money", sent: "7.00", shown: 7 },
  { what: "a negative decimal", column: "money", sent: -0.05 },
  { what: "a decimal of 15 digits", column: "exact", sent: 12345678901.2345 },
  { what: "a double", column: "rough", sent: 1.1 },
  { what: "a small double", column: "rough", sent: 1e-7 },
  { what: "a large double", column: "rough", sent: 1.5e300 },
  { what: "true", column: "flag", sent: true },
  { what: "false", column: "flag", sent: false },
  { what: "1 as true", column: "flag", sent: 1, shown: true },
  { what: "0 as false", column: "flag", sent: 0, shown: false },
  { what: "the text true as true", column: "flag", sent: "true", shown: true },
  { what: "the text false as false", column: "flag", sent: "false", shown: false },
  { what: "a date", column: "day", sent: "2026-01-31" },
  { what: "a leap day", column: "day", sent: "2024-02-29" },
  { what: "a timestamp with milliseconds", column: "moment", sent: "2026-01-31T10:20:30.123Z" },
  {
    what: "a timestamp with an offset",
    column: "moment",
    sent: "2026-01-31T12:20:30.5+02:00",
    shown: "2026-01-31T10:20:30.500Z",
  },
  {
    what: "a timestamp without a zone as UTC",
    column: "moment",
    sent: "2026-01-31T10:20:30",
    shown: "2026-01-31T10:20:30.000Z",
  },
  {
    what: "a timestamp in the hour that summer time skips",
    column: "moment",
    sent: "2026-03-29T02:30:00.000Z",
  },
  {
    what: "a timestamp in a column without a zone",
    column: "local_time",
    sent: "2026-01-31T10:20:30.123Z",
  },
  {
    what: "a timestamp with an offset in a column without a zone",
    column: "local_time",
    sent: "2026-01-31T05:20:30.123-05:00",
    shown: "2026-01-31T10:20:30.123Z",
  },
  { what: "a time", column: "clock", sent: "23:59:58" },
  { what: "a uuid", column: "token", sent: "123e4567-e89b-42d3-a456-426614174000" },
  {
    what: "a uuid in small letters",
    column: "token",
    sent: "123E4567-E89B-42D3-A456-426614174000",
    shown: "123e4567-e89b-42d3-a456-426614174000",
  },
  { what: "a JSON object", column: "document", sent: { a: [1, 2.5, null, true], b: { c: "é" } } },
  { what: "a JSON array", column: "document", sent: [1, "two", { three: 3 }] },
  { what: "an empty JSON object", column: "document", sent: {} },
  { what: "bytes as base64", column: "raw", sent: "AP8Q/w==" },
  { what: "a text", column: "note", sent: "plain" },
  { what: "an empty text", column: "note", sent: "" },
  { what: "a text with blanks and lines", column: "note", sent: "  a\tb\r\nc  " },
  { what: "quotes and backslashes", column: "note", sent: `'"\\\`;--/*` },
  { what: "letters beyond ASCII", column: "note", sent: "Ååß漢字😀" },
  { what: "a letter in two code points as it was sent", column: "note", sent: "e\u0301" },
  { what: "a text as long as its column", column: "short", sent: "1234567890" },
  {
    what: "ten emoji in a column of ten characters",
    column: "short",
    sent: "😀😀😀😀😀😀😀😀😀😀",
  },
  ...[
    "whole",
    "big",
    "money",
    "rough",
    "flag",
    "day",
    "moment",
    "local_time",
    "clock",
    "token",
    "document",
    "raw",
    "note",
  ].map((column) => ({ what: `null in ${column}`, column, sent: null })),
];

describe("values", () => {
  test.each(trips)(
    "create answers $what, and first the same record",
    async ({ column, sent, shown = sent }) => {
      const created = await shop.post("kinds", "create", { [column]: sent });
      expect(created.status, JSON.stringify(created.body)).toBe(201);
      const row = record(created);
      expect(row[column]).toEqual(shown);
      const first = await shop.post("kinds", "first", {
        where: { key: "kind_id", value: row["kind_id"] },
      });
      expect(first.body.data).toEqual(row);
    },
  );

  test.each(trips)(
    "update answers $what, and first the same record",
    async ({ column, sent, shown = sent }) => {
      const { kind_id } = record(await shop.post("kinds", "create", { note: "before" }));
      const updated = await shop.post("kinds", "update", { kind_id, [column]: sent });
      expect(updated.status, JSON.stringify(updated.body)).toBe(200);
      expect(record(updated)[column]).toEqual(shown);
      const first = await shop.post("kinds", "first", {
        where: { key: "kind_id", value: kind_id },
      });
      expect(first.body.data).toEqual(updated.body.data);
    },
  );

  test("a number with more digits than a double holds reaches a bigint column unchanged", async () => {
    const created = await shop.post("kinds", "create", '{"big":9007199254740993}');
    expect(record(created)["big"]).toBe("9007199254740993");
  });

  test("a decimal that a double cannot hold is stored exactly or refused, never changed", async () => {
    const created = await shop.post("kinds", "create", '{"exact":1234567890123456.7891}');
    if (created.status === 201) expect(record(created)["exact"]).toBe("1234567890123456.7891");
    else expect(created.body.errors).toHaveProperty("exact");
  });

  test("a stored value is found by the value that the answer shows", async () => {
    for (const { column, sent } of trips) {
      if (sent === null || ["document", "raw"].includes(column)) continue;
      const row = record(await shop.post("kinds", "create", { [column]: sent }));
      const where = [
        { key: "kind_id", value: row["kind_id"] },
        { key: column, value: row[column] },
      ];
      const first = await shop.post("kinds", "first", { where });
      expect(first.body.data, `${column} = ${JSON.stringify(row[column])}`).toEqual(row);
    }
  });

  test("a project with decimals as strings shows every decimal and bigint as text", async () => {
    const project = { ...shopOptions.project, decimals: "string" };
    const fixture = await openFixture({ ...shopOptions, project });
    try {
      const body = { whole: 1, big: 5, exact: "1.25", money: 2.5, rough: 0.5 };
      const { data } = (await fixture.post("kinds/create", body)).body;
      expect(data).toMatchObject({
        whole: 1,
        big: "5",
        exact: expect.any(String),
        money: expect.any(String),
        rough: 0.5,
      });
      expect([Number(data.exact), Number(data.money)]).toEqual([1.25, 2.5]);
    } finally {
      await fixture.close();
    }
  });
});
