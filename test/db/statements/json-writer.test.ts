/** Texts of a server as JSON: the output equals that of the parsed values, and the usual forms are recognized. */
import { isUtf8 } from "node:buffer";
import { describe, expect, test } from "vitest";
import type { Json } from "../../../core/values/json.ts";
import { asString } from "../../../core/values/ready-json.ts";
import { showDecimal } from "../../../core/values/types/decimal-type.ts";
import { showTimestamp } from "../../../core/values/types/timestamp-type.ts";
import type { Column } from "../../../core/values/types/column.ts";
import { createDialect } from "../../../db/engines/postgres/dialect.ts";
import { listWriterOf } from "../../../db/statements/list-writer.ts";
import { column } from "../../values/column.ts";
import { JsonWriter } from "../../../db/statements/json-writer.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** What the method writes between two other values; null: nothing. */
function written(write: (writer: JsonWriter) => boolean | void): string | null {
  const writer = new JsonWriter();
  writer.raw(bytes("<"));
  const isWritten = write(writer);
  writer.raw(bytes(">"));
  const text = asString(writer.written(isUtf8));
  if (isWritten !== false) return text.slice(1, -1);
  expect(text).toBe("<>");
  return null;
}

/** Characters that numbers and times consist of, in every order of that length. */
function everyText(characters: string, length: number): string[] {
  if (length === 0) return [""];
  return everyText(characters, length - 1).flatMap((text) =>
    Array.from(characters, (character) => text + character),
  );
}

describe("digits", () => {
  const usual = [
    "0",
    "7",
    "-7",
    "42",
    "12.50",
    "-12.5",
    "0.5",
    "-0.50",
    "100.00",
    "123456789012345",
  ];
  test.each(usual)("%s are a number", (text) => {
    expect(written((writer) => writer.digits(bytes(text)))).toBe(JSON.stringify(Number(text)));
    const quoted = JSON.stringify(showDecimal(text, "string"));
    expect(written((writer) => writer.digits(bytes(text), true))).toBe(quoted);
  });

  const others = [
    "",
    "-",
    ".",
    "-.5",
    "1.2.3",
    "1e5",
    "NaN",
    "Infinity",
    "-0",
    "-0.00",
    "007",
    "+1",
  ];
  const long = ["0.0000001", "-0.0000009", "1234567890123456", " 1", "1 ", "--1", "0x1", "1-"];
  test.each([...others, ...long])("are not seen in %j", (text) => {
    expect(written((writer) => writer.digits(bytes(text)))).toBeNull();
    expect(written((writer) => writer.digits(bytes(text), true))).toBeNull();
  });

  test("are those of the value, whatever they are", () => {
    const texts = [
      ...everyText("-.019", 5),
      ...["0.00000", "-0.00000", "10000000.", "99999999.99999"].flatMap((start) =>
        everyText("059", 2).map((end) => start + end),
      ),
    ];
    for (const text of texts) {
      const number = written((writer) => writer.digits(bytes(text)));
      if (number !== null) expect([text, number]).toEqual([text, valueOf(text, "number")]);
      const quoted = written((writer) => writer.digits(bytes(text), true));
      if (quoted !== null) expect([text, quoted]).toEqual([text, valueOf(text, "string")]);
    }
  });

  const valueOf = (text: string, decimals: "number" | "string"): string =>
    JSON.stringify(showDecimal(text.replace(/\.$/, ""), decimals));
});

describe("a timestamp", () => {
  const days = [
    "2026-10-31",
    "0001-01-01",
    "9999-12-31",
    "0000-00-00",
    "2026/10/31",
    "12026-10-31",
  ];
  const times = ["08:15:00", "23:59:59", "8:15:00", "08:15", '08:15:0"'];
  const fractions = [
    "",
    ".",
    ".1",
    ".12",
    ".123",
    ".1230",
    ".123400",
    ".123456",
    ".1234567",
    ".12x",
  ];
  const zones = ["", "+00", "+02", "Z", "+00:00", " BC"];
  const texts = days.flatMap((day) =>
    times.flatMap((time) =>
      fractions.flatMap((fraction) => zones.map((zone) => `${day} ${time}${fraction}${zone}`)),
    ),
  );

  test("is shown as its value would be", () => {
    for (const text of texts) {
      const shown = written((writer) => writer.timestamp(bytes(text)));
      if (shown !== null)
        expect([text, shown]).toEqual([text, JSON.stringify(showTimestamp(text))]);
    }
  });

  test.each(["2026-10-31 08:15:00", "2026-10-31 08:15:00.25+00", "2026-10-31 08:15:00.123456+00"])(
    "of the form %s is written",
    (text) => expect(written((writer) => writer.timestamp(bytes(text)))).not.toBeNull(),
  );
});

test.each([
  ["day", "2026-10-31", true],
  ["day", "0000-00-00", false],
  ["day", "infinity", false],
  ["day", "12026-10-31", false],
  ["day", "2026-10-3x", false],
  ["time", "08:15:00", true],
  ["time", "08:15:0x", false],
  ["time", "08-15-00", false],
  ["time", "08:15:00.5", false],
] as const)("a %s is seen in %s: %s", (kind, text, isOne) => {
  expect(written((writer) => writer[kind](bytes(text)))).toBe(isOne ? `"${text}"` : null);
});

describe("a text", () => {
  const texts = [
    ...Array.from({ length: 0x250 }, (_, code) => `a${String.fromCharCode(code)}b`),
    "",
    "\u2028",
    "🎉",
    "\ufeff",
    "\ufeff\n",
    "\n日本".repeat(50_000),
    "日本".repeat(50_000),
    `${"long ".repeat(50_000)}"`,
  ];
  test("is escaped as it has to be", () => {
    for (const text of texts)
      expect(written((writer) => writer.text(bytes(text))) === JSON.stringify(text)).toBe(true);
  });

  test.each([[[0xff]], [[0x61, 0xc3]], [[0xed, 0xa0, 0x80]], [[0xe2, 0x80]]])(
    "of the bytes %j, which are no text, has a mark in their place",
    (raw) => {
      const text = new TextDecoder().decode(new Uint8Array(raw));
      expect(written((writer) => writer.text(new Uint8Array(raw)))).toBe(JSON.stringify(text));
    },
  );
});

test("a value is written as JSON.stringify writes it", () => {
  const values: Json[] = [null, true, -0, 1e21, Number.NaN, "é\n", "\ud800", { a: ["🎉"] }, []];
  for (const value of values)
    expect(written((writer) => writer.json(value))).toBe(JSON.stringify(value));
});

test("a row that cannot be written fails its list in the end, not the driver that gives it", () => {
  const fault = new Error("cannot be written");
  const write = (): never => {
    throw fault;
  };
  const lists = { write: () => write, received: (_column: Column, raw: Uint8Array) => raw, isUtf8 };
  const dialect = { ...createDialect("number", () => null), lists };
  const list = listWriterOf(dialect, [column("text")], false)!({ rowsMax: 5 });
  for (let row = 0; row < 3; row++) list.take([bytes("a")]);
  expect(() => list.end()).toThrow(fault);
});

test("a writer can be used again, after a long text too", () => {
  const writer = new JsonWriter();
  for (const text of ["x".repeat(3_000_000), "short"]) {
    writer.text(bytes(text));
    expect(asString(writer.written(isUtf8)) === JSON.stringify(text)).toBe(true);
    writer.clear();
    expect(writer.written(isUtf8)).toBe("");
  }
});

test("a long result is bytes, a short one and one that is not UTF-8 a text", () => {
  const resultOf = (value: Uint8Array) => {
    const writer = new JsonWriter();
    writer.text(value);
    return writer.written(isUtf8);
  };
  const long = "ä".repeat(20_000);
  expect(resultOf(bytes("ä"))).toBe('"ä"');
  expect(resultOf(bytes(long))).toEqual(bytes(`"${long}"`));
  const broken = Uint8Array.of(...bytes(long), 0xe4);
  expect(resultOf(broken) === `"${long}\uFFFD"`).toBe(true);
});
