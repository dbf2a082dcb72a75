import { describe, expect, test } from "vitest";
import type { Column } from "../../core/values/types/column.ts";
import { ExactNumber, type Json } from "../../core/values/json.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import { accept } from "../../core/values/types/accept.ts";
import { showBytes } from "../../core/values/types/bytes-type.ts";
import { showDate } from "../../core/values/types/date-type.ts";
import { showDecimal } from "../../core/values/types/decimal-type.ts";
import { showFloat } from "../../core/values/types/float-type.ts";
import { showInteger } from "../../core/values/types/integer-type.ts";
import { showJson } from "../../core/values/types/json-types.ts";
import { showTime } from "../../core/values/types/time-type.ts";
import { showTimestamp } from "../../core/values/types/timestamp-type.ts";
import { acceptedSchema, comparedSchema, shownSchema } from "../../core/values/types/schemas.ts";
import { column } from "./column.ts";
import { takes } from "../openapi/json-schema.ts";

const exact = (source: string): ExactNumber => new ExactNumber(source);
const bytes = (...values: number[]): Uint8Array => new Uint8Array(values);
/** For the titles: JSON cannot express bigint, NaN and similar values. */
const shown = (value: unknown): string =>
  value instanceof ExactNumber
    ? `number ${value.source}`
    : typeof value === "object" || typeof value === "string"
      ? JSON.stringify(value, (_name, member) =>
          typeof member === "bigint" ? `${member}n` : member,
        ).slice(0, 60)
      : `${typeof value} ${String(value)}`;

const columns = {
  text: column("text"),
  short: column("text", { lengthMax: 3 }),
  narrow: column("text", { bytesMax: 4 }),
  padded: column("text", { lengthMax: 4, fixedLength: true }),
  mood: column("text", { labels: ["calm", "glad"] }),
  integer: column("integer"),
  small: column("integer", { range: { min: -32768n, max: 32767n } }),
  big: column("integer", { range: { min: -9223372036854775808n, max: 9223372036854775807n } }),
  unsigned: column("integer", { range: { min: 0n, max: 18446744073709551615n } }),
  decimal: column("decimal"),
  money: column("decimal", { precision: 5, scale: 2 }),
  fine: column("decimal", { precision: 3, scale: 5 }),
  coarse: column("decimal", { precision: 3, scale: -2 }),
  sqliteDecimal: column("decimal", { precision: 15 }),
  float: column("float"),
  float32: column("float", { isSingle: true }),
  boolean: column("boolean"),
  date: column("date"),
  timestamp: column("timestamp"),
  seconds: column("timestamp", { fractionDigits: 0 }),
  micro: column("timestamp", { fractionDigits: 6 }),
  mysqlTimestamp: column("timestamp", {
    span: { first: "1970-01-01T00:00:01.000Z", last: "2038-01-19T03:14:07.999Z" },
  }),
  time: column("time", { fractionDigits: 0 }),
  fineTime: column("time", { fractionDigits: 6 }),
  duration: column("time", { fractionDigits: 6, isDuration: true }),
  dayTime: column("time", { fractionDigits: 0, endsDays: true }),
  longJson: column("json", { range: { min: -(2n ** 63n), max: 2n ** 64n - 1n } }),
  sqliteJson: column("json", { wholeRange: { min: -(2n ** 63n), max: 2n ** 63n - 1n } }),
  uuid: column("uuid"),
  json: column("json"),
  bytes: column("bytes"),
  tinyBytes: column("bytes", { bytesMax: 2 }),
  "binary(4)": column("bytes", { bytesMax: 4, fixedLength: true }),
  array: column("array"),
  other: column("other"),
} satisfies Record<string, Column>;
type Name = keyof typeof columns;

const uuid = "0b9e4f0a-31c2-4d5e-8f60-718293a4b5c6";

const taken: [Name, unknown, Scalar][] = [
  ["text", "", ""],
  ["text", " a ", " a "],
  ["text", "é𝄞\n", "é𝄞\n"],
  ["text", "e\u0301", "e\u0301"],
  ["text", 5, "5"],
  ["text", -0, "0"],
  ["text", 12.5, "12.5"],
  ["text", exact("9007199254740993"), "9007199254740993"],
  ["text", null, null],
  ["short", "abc", "abc"],
  ["short", "𝄞𝄞𝄞", "𝄞𝄞𝄞"],
  ["narrow", "éé", "éé"],
  ["narrow", "𝄞", "𝄞"],
  ["padded", "ab", "ab"],
  ["padded", " ab", " ab"],
  ["mood", "calm", "calm"],
  ["integer", 5, 5n],
  ["integer", 5.0, 5n],
  ["integer", -0, 0n],
  ["integer", "-5", -5n],
  ["integer", "-0", 0n],
  ["integer", "007", 7n],
  ["integer", 1e20, 100000000000000000000n],
  ["integer", 1e23, 100000000000000000000000n],
  ["integer", exact("9007199254740993"), 9007199254740993n],
  ["integer", exact("9007199254740993.0"), 9007199254740993n],
  ["integer", exact("9007199254740993e1"), 90071992547409930n],
  ["small", 32767, 32767n],
  ["small", "-32768", -32768n],
  ["big", "9223372036854775807", 9223372036854775807n],
  ["big", exact("-9223372036854775808"), -9223372036854775808n],
  ["unsigned", "18446744073709551615", 18446744073709551615n],
  ["integer", null, null],
  ["decimal", 12.5, "12.5"],
  ["decimal", "12.50", "12.5"],
  ["decimal", "-0.00", "0"],
  ["decimal", 1e21, "1000000000000000000000"],
  ["decimal", 1e-7, "0.0000001"],
  ["decimal", "1e3", "1000"],
  ["decimal", exact("0.12345678901234567890"), "0.1234567890123456789"],
  ["decimal", "123456789012345678901234567890.5", "123456789012345678901234567890.5"],
  ["money", "999.99", "999.99"],
  ["money", "999.9900", "999.99"],
  ["money", -0.5, "-0.5"],
  ["money", 0, "0"],
  ["fine", "0.00123", "0.00123"],
  ["coarse", 99900, "99900"],
  ["coarse", 0, "0"],
  ["sqliteDecimal", "123456789012.345", "123456789012.345"],
  ["sqliteDecimal", 1e20, "100000000000000000000"],
  ["float", 0.1, 0.1],
  ["float", -0, 0],
  ["float32", 1.1, 1.1],
  ["float32", 16_777_216, 16_777_216],
  ["float32", "0.3", 0.3],
  ["float", "0.10", 0.1],
  ["float", "1e308", 1e308],
  ["float", exact("1.00000000000000000000"), 1],
  ["boolean", true, true],
  ["boolean", false, false],
  ["boolean", 1, true],
  ["boolean", 0, false],
  ["boolean", "true", true],
  ["boolean", "false", false],
  ["boolean", "1", true],
  ["boolean", "0", false],
  ["date", "2024-02-29", "2024-02-29"],
  ["date", "2000-02-29", "2000-02-29"],
  ["date", "0001-01-01", "0001-01-01"],
  ["date", "9999-12-31", "9999-12-31"],
  ["timestamp", "2024-02-29T12:34:56.789Z", "2024-02-29T12:34:56.789Z"],
  ["timestamp", "2024-02-29 12:34:56", "2024-02-29T12:34:56.000Z"],
  ["timestamp", "2024-02-29T12:34", "2024-02-29T12:34:00.000Z"],
  ["timestamp", "2024-02-29", "2024-02-29T00:00:00.000Z"],
  ["timestamp", "2024-03-01T01:00:00+02:00", "2024-02-29T23:00:00.000Z"],
  ["timestamp", "2024-02-29T23:00:00-0530", "2024-03-01T04:30:00.000Z"],
  ["timestamp", "2024-02-29T12:34:56.1Z", "2024-02-29T12:34:56.100Z"],
  ["timestamp", "2024-02-29T12:34:56.789000Z", "2024-02-29T12:34:56.789Z"],
  ["timestamp", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
  ["seconds", "2024-02-29T12:34:56.000Z", "2024-02-29T12:34:56.000Z"],
  ["mysqlTimestamp", "1970-01-01T00:00:01Z", "1970-01-01T00:00:01.000Z"],
  ["time", "23:59:59", "23:59:59"],
  ["time", "00:00", "00:00:00"],
  ["time", "12:34:56.000", "12:34:56"],
  ["fineTime", "12:34:56.120000", "12:34:56.12"],
  ["duration", "-01:30:00.50", "-01:30:00.5"],
  ["duration", "838:59:59", "838:59:59"],
  ["dayTime", "24:00:00", "24:00:00"],
  ["dayTime", "24:00", "24:00:00"],
  ["dayTime", "24:00:00.000", "24:00:00"],
  ["micro", "2024-02-29T12:34:56.789120Z", "2024-02-29T12:34:56.78912Z"],
  ["json", { a: exact("9007199254740993") }, '{"a":9007199254740993}'],
  ["longJson", { a: exact("18446744073709551615") }, '{"a":18446744073709551615}'],
  ["sqliteJson", exact("9223372036854775807"), "9223372036854775807"],
  ["sqliteJson", [exact("0.12345678901234567890")], "[0.12345678901234567890]"],
  ["sqliteJson", 1.5, "1.5"],
  ["array", [exact("9007199254740993")], "[9007199254740993]"],
  ["uuid", uuid, uuid],
  ["uuid", uuid.toUpperCase(), uuid],
  ["json", { a: [1, "x", null, true] }, '{"a":[1,"x",null,true]}'],
  ["json", "text", '"text"'],
  ["json", 0, "0"],
  ["json", false, "false"],
  ["json", [], "[]"],
  ["json", JSON.parse('{"__proto__":{"a":1}}'), '{"__proto__":{"a":1}}'],
  ["json", { toString: 1, toJSON: "x" }, '{"toString":1,"toJSON":"x"}'],
  ["bytes", "", bytes()],
  ["bytes", "AP+A", bytes(0, 255, 128)],
  ["bytes", "AP8=", bytes(0, 255)],
  ["bytes", "AP8", bytes(0, 255)],
  ["bytes", "AA==", bytes(0)],
  ["bytes", "AA", bytes(0)],
  ["tinyBytes", "AP8=", bytes(0, 255)],
  ["array", [1, "a", null], '[1,"a",null]'],
  ["array", [], "[]"],
  ["other", "10.0.0.1", "10.0.0.1"],
  ["other", 5, "5"],
  ["other", true, "true"],
];

const oneOf = (word: string): RegExp => new RegExp(`^must be ${word}`);
const refusals: [Name, unknown, RegExp][] = [
  ["text", true, oneOf("text")],
  ["text", {}, oneOf("text")],
  ["text", { toString: () => "x" }, oneOf("text")],
  ["text", ["a"], oneOf("text")],
  ["text", 1e21, oneOf("text")],
  ["text", exact("1e999"), oneOf("text")],
  ["text", "\ud800", /well formed/],
  ["text", "a\udc00b", /well formed/],
  ["text", "a\0b", /NUL/],
  ["short", "abcd", /at most 3 characters/],
  ["short", "𝄞𝄞𝄞𝄞", /at most 3 characters/],
  ["short", 1234, /at most 3 characters/],
  ["narrow", "ééé", /at most 4 bytes/],
  ["narrow", "𝄞a", /at most 4 bytes/],
  ["narrow", "€€", /at most 4 bytes/],
  ["padded", "ab ", /end with a space/],
  ["padded", " ", /end with a space/],
  ["mood", "Calm", /one of: calm, glad/],
  ["mood", "", /one of/],
  ["integer", 1.5, oneOf("a whole number")],
  ["integer", "5abc", oneOf("a whole number")],
  ["integer", " 5", oneOf("a whole number")],
  ["integer", "5\n", oneOf("a whole number")],
  ["integer", "", oneOf("a whole number")],
  ["integer", "+5", oneOf("a whole number")],
  ["integer", "5.0", oneOf("a whole number")],
  ["integer", "1e3", oneOf("a whole number")],
  ["integer", "0x10", oneOf("a whole number")],
  ["integer", "٥", oneOf("a whole number")],
  ["integer", true, oneOf("a whole number")],
  ["integer", [5], oneOf("a whole number")],
  ["integer", { valueOf: () => 5 }, oneOf("a whole number")],
  ["integer", Number.NaN, oneOf("a whole number")],
  ["integer", Number.POSITIVE_INFINITY, oneOf("a whole number")],
  ["integer", exact("9007199254740993.5"), oneOf("a whole number")],
  ["integer", exact("1e400000"), oneOf("a whole number")],
  ["integer", undefined, oneOf("a whole number")],
  ["small", 32768, /between -32768 and 32767/],
  ["small", -32769, /between/],
  ["small", exact("1e999"), /between/],
  ["big", "9223372036854775808", /between/],
  ["unsigned", -1, /between 0 and/],
  ["decimal", "abc", oneOf("a number")],
  ["decimal", "", oneOf("a number")],
  ["decimal", ".5", oneOf("a number")],
  ["decimal", "5.", oneOf("a number")],
  ["decimal", "1,5", oneOf("a number")],
  ["decimal", "NaN", oneOf("a number")],
  ["decimal", "Infinity", oneOf("a number")],
  ["decimal", Number.POSITIVE_INFINITY, oneOf("a number")],
  ["decimal", exact("1e400000"), oneOf("a number")],
  ["decimal", true, oneOf("a number")],
  ["decimal", [1], oneOf("a number")],
  ["money", "1.005", /at most 2 digits after the decimal point/],
  ["money", 1000, /at most 3 digits before the decimal point/],
  ["money", exact("999.990000000000000001"), /at most 2 digits after/],
  ["fine", "0.01", /smaller than 0.01/],
  ["coarse", 150, /multiple of 100/],
  ["sqliteDecimal", "1234567890123.4567", /at most 15 digits/],
  ["float", "abc", oneOf("a number")],
  ["float", Number.NaN, oneOf("a number")],
  ["float", exact("1e999"), /store exactly/],
  ["float", exact("0.12345678901234567890"), /store exactly/],
  ["float", "9007199254740993", /store exactly/],
  ["float", "1e-999", /store exactly/],
  ["float32", 16_777_217, /stores it exactly/],
  ["float32", 0.123456789, /stores it exactly/],
  ["float32", 1e39, /stores it exactly/],
  ["binary(4)", "AAEC", /exactly 4 bytes/],
  ["binary(4)", "AAECAwQ=", /exactly 4 bytes/],
  ["float", true, oneOf("a number")],
  ["boolean", 2, oneOf("true or false")],
  ["boolean", "TRUE", oneOf("true or false")],
  ["boolean", "yes", oneOf("true or false")],
  ["boolean", "", oneOf("true or false")],
  ["boolean", [], oneOf("true or false")],
  ["date", "2024-02-30", oneOf("a date")],
  ["date", "2023-02-29", oneOf("a date")],
  ["date", "1900-02-29", oneOf("a date")],
  ["date", "2024-04-31", oneOf("a date")],
  ["date", "2024-13-01", oneOf("a date")],
  ["date", "2024-00-10", oneOf("a date")],
  ["date", "2024-01-00", oneOf("a date")],
  ["date", "0000-01-01", oneOf("a date")],
  ["date", "12000-01-01", oneOf("a date")],
  ["date", "2024-1-1", oneOf("a date")],
  ["date", "2024-01-01T00:00:00Z", oneOf("a date")],
  ["date", "2024-01-01\n", oneOf("a date")],
  ["date", 20240101, oneOf("a date")],
  ["timestamp", "2024-02-30T00:00:00Z", oneOf("a date and time")],
  ["timestamp", "2024-01-01T24:00:00Z", oneOf("a date and time")],
  ["timestamp", "2016-12-31T23:59:60Z", oneOf("a date and time")],
  ["timestamp", "2024-01-01T12:60Z", oneOf("a date and time")],
  ["timestamp", "2024-01-01T12", oneOf("a date and time")],
  ["timestamp", "2024-01-01T12:00:00+24:00", oneOf("a date and time")],
  ["timestamp", "2024-01-01T12:00:00 UTC", oneOf("a date and time")],
  ["timestamp", "01/02/2024", oneOf("a date and time")],
  ["timestamp", "0001-01-01T00:00:00+01:00", oneOf("a date and time")],
  ["timestamp", "9999-12-31T23:59:59-01:00", oneOf("a date and time")],
  ["timestamp", 1704067200000, oneOf("a date and time")],
  ["timestamp", "", oneOf("a date and time")],
  ["timestamp", "2024-02-29T12:34:56.7891Z", /at most 3 fractional digits/],
  ["micro", "2024-02-29T12:34:56.7891234Z", /at most 6 fractional digits/],
  ["seconds", "2024-02-29T12:34:56.5Z", /whole second/],
  ["mysqlTimestamp", "1970-01-01T00:00:00Z", /between 1970/],
  ["mysqlTimestamp", "2038-01-19T03:14:08Z", /between/],
  ["time", "24:00:00", oneOf("a time")],
  ["time", "12:60", oneOf("a time")],
  ["time", "12:00:60", oneOf("a time")],
  ["time", "12:34:56.5", /whole second/],
  ["fineTime", "12:34:56.1234567", /at most 6 fractional digits/],
  ["duration", "839:00:00", oneOf("a time")],
  ["dayTime", "24:00:01", oneOf("a time")],
  ["dayTime", "24:01", oneOf("a time")],
  ["duration", "838:59:59.5", oneOf("a time")],
  ["time", "1:00", oneOf("a time")],
  ["time", "12:00Z", oneOf("a time")],
  ["time", 12, oneOf("a time")],
  ["uuid", "", oneOf("a UUID")],
  ["uuid", uuid.replaceAll("-", ""), oneOf("a UUID")],
  ["uuid", `{${uuid}}`, oneOf("a UUID")],
  ["uuid", `${uuid}0`, oneOf("a UUID")],
  ["uuid", uuid.replace("0", "g"), oneOf("a UUID")],
  ["uuid", 5, oneOf("a UUID")],
  ["longJson", { a: exact("18446744073709551616") }, /cannot be kept exactly/],
  ["longJson", exact("0.12345678901234567890"), /cannot be kept exactly/],
  ["longJson", [exact("9007199254740993.0")], /cannot be kept exactly/],
  ["sqliteJson", exact("9223372036854775808"), /cannot be kept exactly/],
  ["sqliteJson", exact("9007199254740993.0"), /cannot be kept exactly/],
  ["sqliteJson", exact("0.12345678901234567890"), /cannot be kept exactly/],
  ["sqliteJson", exact("1e400"), /cannot be kept exactly/],
  ["json", { a: ["\ud800"] }, /well formed/],
  ["json", { "\ud800": 1 }, /well formed/],
  ["json", ["a\0"], /NUL/],
  ["json", undefined, /JSON value/],
  ["json", [5n], /JSON value/],
  ["json", [Number.NaN], /JSON value/],
  ["bytes", "A", oneOf("base64")],
  ["bytes", "AB=", oneOf("base64")],
  ["bytes", "AA=A", oneOf("base64")],
  ["bytes", "====", oneOf("base64")],
  ["bytes", "AB==", oneOf("base64")],
  ["bytes", "AP9=", oneOf("base64")],
  ["bytes", "AP-A", oneOf("base64")],
  ["bytes", "AP+A\n", oneOf("base64")],
  ["bytes", 5, oneOf("base64")],
  ["tinyBytes", "AP+A", /at most 2 bytes/],
  ["array", "[]", oneOf("an array")],
  ["array", { length: 0 }, oneOf("an array")],
  ["other", {}, oneOf("text")],
  ["other", [], oneOf("text")],
  ["other", "\udfff", /well formed/],
];

describe("accept", () => {
  test.each(taken.map(([name, value, stored]) => ({ name, title: shown(value), value, stored })))(
    "$name takes $title",
    ({ name, value, stored }) => {
      expect(accept(columns[name], value)).toEqual({ ok: true, value: stored });
    },
  );

  test.each(
    refusals.map(([name, value, message]) => ({ name, title: shown(value), value, message })),
  )("$name refuses $title", ({ name, value, message }) => {
    expect(accept(columns[name], value)).toEqual({
      ok: false,
      message: expect.stringMatching(message),
    });
  });
});

/** What a validator of JSON Schema gets to see of a number. */
const plain = (value: unknown): unknown =>
  value instanceof ExactNumber ? Number(value.source) : value;

describe("the schema", () => {
  test.each(taken.map(([name, value]) => ({ name, title: shown(value), value })))(
    "of $name takes $title, as the column does",
    ({ name, value }) => {
      expect(takes(acceptedSchema(columns[name]), plain(value))).toBe(true);
    },
  );

  test.each(Object.entries(columns).filter(([, { type }]) => type !== "json"))(
    "of %s takes null only where the column may be null",
    (_name, nullable) => {
      const required = { ...nullable, nullable: false };
      for (const schemaOf of [acceptedSchema, shownSchema]) {
        expect(takes(schemaOf(nullable), null)).toBe(true);
        expect(takes(schemaOf(required), null)).toBe(false);
      }
    },
  );

  test.each<[Name, unknown]>([
    ["short", "abcd"],
    ["mood", "angry"],
    ["small", 32768],
    ["small", "x"],
    ["small", 1.5],
    ["money", 1000],
    ["boolean", 2],
    ["date", "2026-02-30"],
    ["timestamp", "noon"],
    ["time", "8"],
    ["uuid", "1"],
    ["array", {}],
    ["bytes", 5],
    ["other", {}],
  ])("of %s refuses %j, as the column does", (name, value) => {
    expect(accept(columns[name], value).ok).toBe(false);
    expect(takes(acceptedSchema(columns[name]), value)).toBe(false);
  });

  test.each<[Name, unknown, ("number" | "string")?]>([
    ["text", "a"],
    ["mood", "calm"],
    ["small", -32768],
    ["big", 1],
    ["big", "9007199254740993"],
    ["big", "1", "string"],
    ["money", 12.5],
    ["money", "12.5", "string"],
    ["decimal", "0.1234567890123456789"],
    ["float", 1e300],
    ["boolean", true],
    ["date", "2026-10-31"],
    ["timestamp", "2026-10-31T08:15:00.000Z"],
    ["time", "08:15:00"],
    ["uuid", uuid],
    ["json", { a: 1 }],
    ["bytes", "AP8="],
    ["array", [1]],
    ["other", "x"],
  ])("of what %s shows takes %j", (name, value, decimals) => {
    expect(takes(shownSchema(columns[name], decimals), value)).toBe(true);
  });

  test.each<[Name, unknown, ("number" | "string")?]>([
    ["small", "1"],
    ["money", "12.5"],
    ["money", 12.5, "string"],
    ["boolean", 1],
    ["timestamp", "2026-10-31"],
    ["time", "08:15"],
  ])("of what %s shows refuses %j, which a body may hold", (name, value, decimals) => {
    expect(accept(columns[name], value).ok).toBe(true);
    expect(takes(shownSchema(columns[name], decimals), value)).toBe(false);
  });

  test("of a count takes numbers alone, whatever decimals says", () => {
    const range = { min: 0n, max: 2n ** 63n - 1n };
    const count = column("integer", { isComputed: true, nullable: false, range });
    expect(shownSchema(count, "string")).toEqual({ type: "integer", minimum: 0 });
  });

  test("of a comparison knows no limits of the column, and no null", () => {
    expect(comparedSchema(column("text", { lengthMax: 3, nullable: false }))).toEqual({
      type: ["string", "number"],
    });
    expect(takes(comparedSchema(columns.money)!, 123456)).toBe(true);
  });

  test.each(["json", "array"] as const)("of a comparison is missing for %s", (name) => {
    expect(comparedSchema(columns[name])).toBeNull();
  });
});

const views: [string, unknown, unknown][] = [
  ["safe integer", showInteger("42", "number"), 42],
  ["negative zero", showInteger("-0", "number"), 0],
  ["largest safe integer", showInteger(9007199254740991n, "number"), 9007199254740991],
  ["integer beyond that", showInteger("9007199254740993", "number"), "9007199254740993"],
  ["bigint beyond that", showInteger(-9007199254740992n, "number"), "-9007199254740992"],
  ["integer as text", showInteger(42, "string"), "42"],
  ["decimal", showDecimal("12.50", "number"), 12.5],
  ["decimal zero", showDecimal("-0.00", "number"), 0],
  ["decimal that a double holds", showDecimal("1234567890123456.000", "number"), 1234567890123456],
  [
    "decimal that no double holds",
    showDecimal("12345678901234567.890", "number"),
    "12345678901234567.89",
  ],
  ["decimal with long fraction", showDecimal("0.1234567890123456", "number"), 0.1234567890123456],
  [
    "decimal with longer fraction",
    showDecimal("0.123456789012345678", "number"),
    "0.123456789012345678",
  ],
  ["decimal as text", showDecimal("12.50", "string"), "12.5"],
  ["decimal as text of a number", showDecimal(1e-7, "string"), "0.0000001"],
  ["decimal NaN", showDecimal("NaN", "number"), null],
  ["decimal NaN as text", showDecimal("NaN", "string"), null],
  ["decimal infinity", showDecimal("-Infinity", "string"), null],
  ["float", showFloat("0.1"), 0.1],
  ["float NaN", showFloat("NaN"), null],
  ["float infinity", showFloat(Number.NEGATIVE_INFINITY), null],
  ["timestamp of MySQL", showTimestamp("2024-02-29 12:34:56"), "2024-02-29T12:34:56.000Z"],
  [
    "timestamp with microseconds",
    showTimestamp("2024-02-29 12:34:56.7891234"),
    "2024-02-29T12:34:56.789123Z",
  ],
  ["timestamp with one digit", showTimestamp("2024-02-29 12:34:56.7"), "2024-02-29T12:34:56.700Z"],
  [
    "timestamp of PostgreSQL",
    showTimestamp("2024-02-29 12:34:56.78+00"),
    "2024-02-29T12:34:56.780Z",
  ],
  ["timestamp with zone", showTimestamp("2024-02-29 12:34:56+05:30"), "2024-02-29T07:04:56.000Z"],
  ["timestamp in ISO form", showTimestamp("2024-02-29T12:34:56.789Z"), "2024-02-29T12:34:56.789Z"],
  ["timestamp without seconds", showTimestamp("2024-02-29 12:34"), "2024-02-29T12:34:00.000Z"],
  ["timestamp that is a date", showTimestamp("2024-02-29"), "2024-02-29T00:00:00.000Z"],
  ["timestamp zero", showTimestamp("0000-00-00 00:00:00"), null],
  ["timestamp infinity", showTimestamp("infinity"), "infinity"],
  ["timestamp of year 12000", showTimestamp("12000-01-01 00:00:00"), "12000-01-01 00:00:00"],
  ["timestamp before our era", showTimestamp("0044-03-15 12:00:00 BC"), "0044-03-15 12:00:00 BC"],
  ["date", showDate("2024-02-29"), "2024-02-29"],
  ["date of a timestamp", showDate("2024-02-29 00:00:00"), "2024-02-29"],
  ["date zero", showDate("0000-00-00"), null],
  ["date before our era", showDate("0044-03-15 BC"), "0044-03-15 BC"],
  ["time", showTime("12:34:56.789100"), "12:34:56.7891"],
  ["time without seconds", showTime("12:34"), "12:34:00"],
  ["time below zero", showTime("-01:30:00.5"), "-01:30:00.5"],
  ["time beyond a day", showTime("838:59:59"), "838:59:59"],
  ["bytes", showBytes(bytes(0, 255)), "AP8="],
  ["json", showJson('{"a":[1,null]}'), { a: [1, null] }],
  ["json with a long number", showJson('{"a":9007199254740993}'), { a: exact("9007199254740993") }],
  ["json with an exponent", showJson("1e2"), 100],
  ["json that is none", showJson("{a"), "{a"],
];

describe("show", () => {
  test.each(views.map(([name, result, expected]) => ({ name, result, expected })))(
    "$name is shown in its JSON form",
    ({ result, expected }) => expect(result).toStrictEqual(expected),
  );

  const roundTrips: [Name, Scalar, (stored: never) => Json][] = [
    ["big", 9223372036854775807n, (stored: bigint) => showInteger(stored, "number")],
    ["big", -7n, (stored: bigint) => showInteger(stored, "string")],
    ["decimal", "-12345678901234567890.5", (stored: string) => showDecimal(stored, "number")],
    ["decimal", "0.1", (stored: string) => showDecimal(stored, "number")],
    ["float", 5e-324, (stored: number) => showFloat(stored)],
    ["date", "0001-01-01", (stored: string) => showDate(stored)],
    ["timestamp", "2024-02-29T12:34:56.789Z", (stored: string) => showTimestamp(stored)],
    ["time", "23:59:59", (stored: string) => showTime(stored)],
    ["json", '{"b":[1,{"a":"é"}]}', (stored: string) => showJson(stored)],
    ["array", "[1,2]", (stored: string) => showJson(stored)],
  ];
  test.each(roundTrips)("%s %s is accepted again as it was shown", (name, stored, show) => {
    expect(accept(columns[name], show(stored as never))).toEqual({ ok: true, value: stored });
  });

  test.each([0, 1, 2, 3, 255, 24_575, 24_576, 24_577, 100_000])(
    "%i bytes come back as they were",
    (length) => {
      const sample = Uint8Array.from({ length }, (_item, at) => (at * 31) % 256);
      expect(showBytes(sample)).toBe(Buffer.from(sample).toString("base64"));
      expect(accept(columns.bytes, showBytes(sample))).toEqual({ ok: true, value: sample });
    },
  );
});
