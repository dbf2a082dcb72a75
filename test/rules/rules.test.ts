import { describe, expect, test } from "vitest";
import type { Column } from "../../core/values/types/column.ts";
import { ruleFaults } from "../../core/rules/field-rules.ts";
import type { FieldRule } from "../../core/rules/rule-definition.ts";
import { ExactNumber } from "../../core/values/json.ts";
import { readDateForm } from "../../core/rules/date-form.ts";
import { compileRules } from "../../core/rules/compile-rules.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import { column, columnsOf } from "../values/column.ts";

const now = (): string => "2024-06-15T12:00:00.000Z";
const exact = (source: string): ExactNumber => new ExactNumber(source);

/** What one field `f` of the body becomes: its value, `undefined` when nothing is set, or its messages. */
function checkOne(given: {
  column: Column;
  rule: Omit<FieldRule, "name"> | null;
  body: Record<string, unknown>;
  mode: "create" | "update";
}): Scalar | undefined | string[] {
  const field = { ...given.column, name: "f" };
  const rules = compileRules(given.rule === null ? [] : [{ name: "f", ...given.rule }], now);
  const { values, errors } = rules.check(given.body, given.mode, columnsOf(field));
  if (errors === null) return values.get(field);
  expect(Object.keys(errors)).toEqual(["f"]);
  return errors["f"];
}

const text = column("text");
const integer = column("integer");
const decimal = column("decimal");
const float = column("float");
const date = column("date");
const timestamp = column("timestamp");
const time = column("time");
const json = column("json");
const array = column("array");
const boolean = column("boolean");
const strictText = column("text", { nullable: false });
const filledText = column("text", { nullable: false, hasDefault: true });
const identity = column("integer", { nullable: false, generated: "identity" });

type Rule = Omit<FieldRule, "name"> | null;

/** Column, rule and value that passes, with what is stored. */
const passing: [string, Column, Rule, unknown, Scalar][] = [
  ["a field without rule", text, null, "a", "a"],
  ["an empty rule", text, {}, "", ""],
  ["null where it may be", text, {}, null, null],
  ["a required value", text, { required: true }, "a", "a"],
  ["a required zero", integer, { required: true }, 0, 0n],
  ["a required false", boolean, { required: true }, false, false],
  ["trim", text, { trim: true }, "  a b\t", "a b"],
  ["trim of a number", text, { trim: true }, 5, "5"],
  ["lowercase", text, { lowercase: true }, "ÀB", "àb"],
  ["uppercase", text, { uppercase: true }, "straße", "STRASSE"],
  ["trim before minLength", text, { trim: true, minLength: 1 }, " a ", "a"],
  ["lowercase before enum", text, { lowercase: true, enum: ["a"] }, "A", "a"],
  ["minLength", text, { minLength: 2 }, "ab", "ab"],
  ["maxLength in characters", text, { maxLength: 2 }, "𝄞𝄞", "𝄞𝄞"],
  ["maxLength of an integer", integer, { maxLength: 2 }, 12, 12n],
  ["pattern anywhere", text, { pattern: "b+" }, "abbc", "abbc"],
  ["pattern with anchors", text, { pattern: "^[A-Z]{2}\\d$" }, "AB1", "AB1"],
  ["pattern in the older syntax", text, { pattern: "^\\-\\_$" }, "-_", "-_"],
  ["pattern with Unicode", text, { pattern: "^.$" }, "𝄞", "𝄞"],
  ["enum", text, { enum: ["a", "b"] }, "b", "b"],
  ["enum of integers", integer, { enum: [1, 2] }, "2", 2n],
  ["enum of decimals", decimal, { enum: [1.5] }, "1.50", "1.5"],
  ["email", text, { format: "email" }, "ann@example.org", "ann@example.org"],
  ["phone", text, { format: "phone" }, "+49 (30) 123-456", "+49 (30) 123-456"],
  ["url", text, { format: "url" }, "https://example.org/a?b=c", "https://example.org/a?b=c"],
  [
    "uuid",
    text,
    { format: "uuid" },
    "0B9E4F0A-31C2-4D5E-8F60-718293A4B5C6",
    "0B9E4F0A-31C2-4D5E-8F60-718293A4B5C6",
  ],
  ["min itself", integer, { min: 5 }, 5, 5n],
  ["max itself", decimal, { max: 0.3 }, "0.30", "0.3"],
  [
    "min beyond doubles",
    integer,
    { min: "9007199254740992" },
    exact("9007199254740993"),
    9007199254740993n,
  ],
  ["min of a date", date, { min: "2024-01-01" }, "2024-01-01", "2024-01-01"],
  [
    "max of a timestamp",
    timestamp,
    { max: "2024-01-01" },
    "2024-01-01T01:00:00+01:00",
    "2024-01-01T00:00:00.000Z",
  ],
  ["min of a time", time, { min: "08:00" }, "08:00:00", "08:00:00"],
  ["min of a number in a text", text, { min: 5 }, "10", "10"],
  ["positive", decimal, { positive: true }, "0.001", "0.001"],
  ["negative", float, { negative: true }, -0.5, -0.5],
  ["integer", decimal, { integer: true }, "5.0", "5"],
  ["scale", decimal, { scale: 2 }, "1.250", "1.25"],
  ["precision", decimal, { precision: 4 }, "12.34", "12.34"],
  ["precision and scale", decimal, { precision: 4, scale: 2 }, 99.99, "99.99"],
  ["minItems", array, { minItems: 1 }, [1], "[1]"],
  ["maxItems", json, { maxItems: 2 }, [1, 2], "[1,2]"],
  ["uniqueItems", array, { uniqueItems: true }, [1, "1", [1]], '[1,"1",[1]]'],
  ["type integer of a digit string", integer, { type: "integer" }, "5", 5n],
  [
    "type decimal in a text column",
    text,
    { type: "decimal" },
    exact("0.12345678901234567890"),
    "0.1234567890123456789",
  ],
  ["type decimal in a text column, sent as text", text, { type: "decimal" }, "12.50", "12.50"],
  ["type decimal with exponent in a text column", text, { type: "decimal" }, 1e-7, "0.0000001"],
  ["type boolean in an integer column", integer, { type: "boolean" }, true, 1n],
  ["type boolean as text in an integer column", integer, { type: "boolean" }, "false", 0n],
  ["type boolean in a text column", text, { type: "boolean" }, true, "true"],
  ["type json in a text column", text, { type: "json" }, { a: 1 }, '{"a":1}'],
  ["type date in a text column", text, { type: "date" }, "2024-02-29", "2024-02-29"],
  [
    "type uuid keeps the text of a text column",
    text,
    { type: "uuid" },
    "0B9E4F0A-31C2-4D5E-8F60-718293A4B5C6",
    "0B9E4F0A-31C2-4D5E-8F60-718293A4B5C6",
  ],
  ["type array in a json column", json, { type: "array" }, [1], "[1]"],
  ["strict number", integer, { strict: true }, 5, 5n],
  ["strict exact number", integer, { strict: true }, exact("9007199254740993"), 9007199254740993n],
  ["strict boolean", boolean, { strict: true }, true, true],
  ["strict text", text, { strict: true }, "5", "5"],
  ["strict date", date, { strict: true }, "2024-01-01", "2024-01-01"],
  [
    "before now",
    timestamp,
    { before: "now" },
    "2024-06-15T11:59:59.999Z",
    "2024-06-15T11:59:59.999Z",
  ],
  ["after a date", date, { after: "2024-01-01" }, "2024-01-02", "2024-01-02"],
  ["a false flag", integer, { positive: false, required: false, strict: false }, "-1", -1n],
];

/** Column, rule and value that fails, with the messages. */
const failing: [string, Column, Rule, unknown, string[]][] = [
  ["a column's type", integer, null, "x", ["must be a whole number"]],
  ["null of a strict column", strictText, null, null, ["must not be null"]],
  ["null of a column with default", filledText, {}, null, ["must not be null"]],
  ["null against the rule", text, { nullable: false }, null, ["must not be null"]],
  [
    "null against the column, whatever the rule",
    strictText,
    { nullable: true },
    null,
    ["must not be null"],
  ],
  ["required null", text, { required: true }, null, ["is required"]],
  ["required empty text", text, { required: true }, "", ["is required"]],
  ["required blanks with trim", text, { required: true, trim: true }, "  ", ["is required"]],
  ["minLength", text, { minLength: 3 }, "ab", ["must have at least 3 characters"]],
  ["maxLength", text, { maxLength: 1 }, "ab", ["must have at most 1 characters"]],
  [
    "the column's length under a looser rule",
    column("text", { lengthMax: 2 }),
    { maxLength: 9 },
    "abc",
    ["must have at most 2 characters"],
  ],
  [
    "the same limit twice, said once",
    column("text", { lengthMax: 2 }),
    { maxLength: 2 },
    "abc",
    ["must have at most 2 characters"],
  ],
  ["pattern", text, { pattern: "^\\d+$" }, "12a", ["does not have the right form"]],
  [
    "pattern on a very long text",
    text,
    { pattern: "a" },
    "a".repeat(10_001),
    ["does not have the right form"],
  ],
  ["enum", text, { enum: ["a", "b"] }, "A", ["must be one of: a, b"]],
  ["enum of integers", integer, { enum: [1, 2] }, 3, ["must be one of: 1, 2"]],
  ["email", text, { format: "email" }, "ann@", ["must be an e-mail address"]],
  [
    "email with line break",
    text,
    { format: "email" },
    "ann@example.org\n",
    ["must be an e-mail address"],
  ],
  ["phone", text, { format: "phone" }, "call me", ["must be a phone number"]],
  ["phone of many digits", text, { format: "phone" }, "1".repeat(16), ["must be a phone number"]],
  [
    "url of a script",
    text,
    { format: "url" },
    "javascript:alert(1)",
    ["must be a web address (http or https)"],
  ],
  [
    "url with blank",
    text,
    { format: "url" },
    " https://example.org",
    ["must be a web address (http or https)"],
  ],
  ["uuid", text, { format: "uuid" }, "5", ["must be a UUID"]],
  ["min", integer, { min: 5 }, 4, ["must be at least 5"]],
  ["max", decimal, { max: 0.3 }, "0.3000000000000000001", ["must be at most 0.3"]],
  [
    "max beyond doubles",
    integer,
    { max: "9007199254740992" },
    exact("9007199254740993"),
    ["must be at most 9007199254740992"],
  ],
  ["min of a date", date, { min: "2024-01-02" }, "2024-01-01", ["must be at least 2024-01-02"]],
  [
    "max of a timestamp",
    timestamp,
    { max: "2024-01-01" },
    "2024-01-01T00:00:00-00:01",
    ["must be at most 2024-01-01"],
  ],
  ["max of a time", time, { max: "18:00" }, "18:00:01", ["must be at most 18:00"]],
  ["min of a text that is no number", text, { min: 5 }, "x", ["must be a number"]],
  [
    "min of a text that is no date",
    text,
    { min: "2024-01-01" },
    "x",
    ["must be at least 2024-01-01"],
  ],
  [
    "min of a number against a date",
    integer,
    { min: "2024-01-01" },
    5,
    ["must be at least 2024-01-01"],
  ],
  ["positive zero", integer, { positive: true }, 0, ["must be greater than 0"]],
  ["negative zero", integer, { negative: true }, -0, ["must be less than 0"]],
  ["integer", decimal, { integer: true }, 1.5, ["must be a whole number"]],
  ["scale", decimal, { scale: 2 }, "1.255", ["must have at most 2 digits after the decimal point"]],
  ["precision", decimal, { precision: 2 }, 1200, ["must have at most 2 digits"]],
  [
    "precision and scale",
    decimal,
    { precision: 4, scale: 2 },
    100,
    ["must have at most 2 digits before the decimal point"],
  ],
  [
    "precision and scale, too fine",
    decimal,
    { precision: 4, scale: 2 },
    "99.999",
    ["must have at most 2 digits after the decimal point"],
  ],
  ["minItems", array, { minItems: 1 }, [], ["must have at least 1 items"]],
  ["maxItems", array, { maxItems: 1 }, [1, 2], ["must have at most 1 items"]],
  ["maxItems of an object", json, { maxItems: 1 }, { length: 0 }, ["must be an array"]],
  [
    "uniqueItems",
    array,
    { uniqueItems: true },
    [{ a: 1 }, { a: 1 }],
    ["must not hold an item twice"],
  ],
  ["type integer", text, { type: "integer" }, "1.5", ["must be a whole number"]],
  ["type date", text, { type: "date" }, "2024-02-30", ["must be a date in the form YYYY-MM-DD"]],
  ["type array", json, { type: "array" }, {}, ["must be an array"]],
  ["type boolean", integer, { type: "boolean" }, 2, ["must be true or false"]],
  ["type text of an object", text, { type: "text" }, {}, ["must be text"]],
  ["strict integer", integer, { strict: true }, "5", ["must be a number, not a text"]],
  [
    "strict decimal",
    text,
    { type: "decimal", strict: true },
    "5",
    ["must be a number, not a text"],
  ],
  ["strict boolean", boolean, { strict: true }, 1, ["must be true or false, not a number or text"]],
  ["strict text", text, { strict: true }, 5, ["must be text"]],
  ["before now", date, { before: "now" }, "2024-06-16", ["must be before now"]],
  ["after now", timestamp, { after: "now" }, "2024-06-15T12:00:00Z", ["must be after now"]],
  ["after a date", date, { after: "2024-01-01" }, "2024-01-01", ["must be after 2024-01-01"]],
  [
    "several constraints at once",
    text,
    { minLength: 3, pattern: "\\d", enum: ["abc1"] },
    "a",
    ["must have at least 3 characters", "does not have the right form", "must be one of: abc1"],
  ],
  [
    "one message after a wrong type",
    integer,
    { min: 1, enum: [1] },
    "x",
    ["must be a whole number"],
  ],
  [
    "a rule's and the column's messages",
    column("integer", { range: { min: 0n, max: 9n } }),
    { max: 5 },
    10,
    ["must be at most 5", "must be between 0 and 9"],
  ],
  [
    "own message",
    text,
    { minLength: 3, messages: { minLength: "Too short!" } },
    "a",
    ["Too short!"],
  ],
  [
    "own message of required",
    text,
    { required: true, messages: { required: "Name?" } },
    null,
    ["Name?"],
  ],
  [
    "own message of the type",
    integer,
    { type: "integer", messages: { type: "Number?" } },
    "x",
    ["Number?"],
  ],
  [
    "own message of before",
    date,
    { before: "now", messages: { before: "Too late" } },
    "2030-01-01",
    ["Too late"],
  ],
];

describe.each(["create", "update"] as const)("on %s", (mode) => {
  test.each(
    passing.map(([title, field, rule, value, stored]) => ({ title, field, rule, value, stored })),
  )("$title passes", ({ field, rule, value, stored }) => {
    expect(checkOne({ column: field, rule, body: { f: value }, mode })).toEqual(stored);
  });

  test.each(
    failing.map(([title, field, rule, value, messages]) => ({
      title,
      field,
      rule,
      value,
      messages,
    })),
  )("$title fails", ({ field, rule, value, messages }) => {
    expect(checkOne({ column: field, rule, body: { f: value }, mode })).toEqual(messages);
  });
});

describe("a field that is not sent", () => {
  const absent: [string, Column, Rule, "create" | "update", Scalar | undefined | string[]][] = [
    ["is left to the database", text, {}, "create", undefined],
    ["is left to the column's default", filledText, null, "create", undefined],
    ["is left to the identity", identity, null, "create", undefined],
    ["is required by the column", strictText, null, "create", ["is required"]],
    ["is required by the rule", text, { required: true }, "create", ["is required"]],
    [
      "is required although the column has a default",
      filledText,
      { required: true },
      "create",
      ["is required"],
    ],
    ["takes the rule's default", text, { required: true, default: "x" }, "create", "x"],
    [
      "takes the default through the transforms",
      text,
      { default: " X ", trim: true, lowercase: true },
      "create",
      "x",
    ],
    ["takes a default of null", text, { default: null }, "create", null],
    [
      "has its default checked too",
      integer,
      { default: 0, min: 1 },
      "create",
      ["must be at least 1"],
    ],
    ["stays as it is on update", strictText, { required: true }, "update", undefined],
    ["takes no default on update", text, { default: "x" }, "update", undefined],
  ];
  test.each(absent)("%s", (_title, field, rule, mode, expected) => {
    expect(checkOne({ column: field, rule, body: {}, mode })).toEqual(expected);
    expect(checkOne({ column: field, rule, body: { f: undefined }, mode })).toEqual(expected);
  });
});

describe("names in a body", () => {
  test.each(["__proto__", "constructor", "toString", "hasOwnProperty"])(
    "%s is no field unless sent",
    (name) => {
      const field = column("text", { name });
      const rules = compileRules([{ name, maxLength: 1 }]);
      expect(rules.check({}, "create", columnsOf(field))).toEqual({
        values: new Map(),
        errors: null,
      });
      const sent = JSON.parse(`{"${name}":"ab"}`) as Record<string, unknown>;
      const { errors } = rules.check(sent, "create", columnsOf(field));
      expect(Object.entries(errors!)).toEqual([[name, ["must have at most 1 characters"]]]);
    },
  );

  test("others than the columns are ignored", () => {
    const { values, errors } = compileRules([]).check(
      { text: "a", other: {} },
      "create",
      columnsOf(text),
    );
    expect([[...values], errors]).toEqual([[[text, "a"]], null]);
  });
});

describe("a whole body", () => {
  const columns = columnsOf(
    column("text", { name: "code", lengthMax: 3 }),
    column("integer", { name: "size" }),
    column("date", { name: "begins" }),
    column("timestamp", { name: "ends" }),
  );
  const rules = compileRules([
    { name: "code", required: true },
    { name: "size", min: 1 },
    { name: "begins", before: "ends" },
    { name: "ends", after: "begins", messages: { after: "Ends too early" } },
    { name: "nowhere", required: true },
  ]);

  test("answers the faults of all fields at once", () => {
    const { errors } = rules.check({ code: "abcd", size: 0, begins: "x" }, "create", columns);
    expect(errors).toEqual({
      code: ["must have at most 3 characters"],
      size: ["must be at least 1"],
      begins: ["must be a date in the form YYYY-MM-DD"],
    });
  });

  test.each([
    [{ begins: "2024-01-01", ends: "2024-01-01T00:00:01Z" }, null],
    [
      { begins: "2024-01-01", ends: "2024-01-01" },
      { begins: ["must be before ends"], ends: ["Ends too early"] },
    ],
    [
      { begins: "2024-01-02", ends: "2024-01-01T23:00:00Z" },
      { begins: ["must be before ends"], ends: ["Ends too early"] },
    ],
    [{ begins: "2024-01-02" }, null],
    [{ begins: "2024-01-02", ends: null }, null],
    [
      { begins: "2024-01-02", ends: "x" },
      { ends: [expect.stringContaining("must be a date and time")] },
    ],
  ])("compares its fields: %j", (body, errors) => {
    expect(rules.check(body, "update", columns).errors).toEqual(errors);
  });

  test("is checked the same way each time", () => {
    for (let round = 0; round < 3; round++) {
      expect(rules.check({ code: "a", size: round }, "create", columns).errors).toEqual(
        round === 0 ? { size: ["must be at least 1"] } : null,
      );
    }
  });
});

describe("faults of a rule", () => {
  const faulty: [Omit<FieldRule, "name">, string[]][] = [
    [{}, []],
    [
      { pattern: "^a$", min: 1, max: 2, minLength: 1, maxLength: 1, before: "ends", after: "now" },
      [],
    ],
    [{ type: "date", min: "2024-01-01", max: "2024-12-31" }, []],
    [{ type: "time", min: "08:00" }, []],
    [{ before: "2024-01-01T00:00:00Z" }, []],
    [{ pattern: "(" }, ["pattern"]],
    [{ pattern: "[b-a]" }, ["pattern"]],
    [{ min: "x" }, ["min"]],
    [{ type: "integer", max: "2024-01-01" }, ["max"]],
    [{ type: "date", min: 5 }, ["min"]],
    [{ type: "time", max: "2024-01-01" }, ["max"]],
    [{ min: 2, max: 1 }, ["max"]],
    [{ min: "2024-02-01", max: "2024-01-01" }, ["max"]],
    [{ min: 1, max: "2024-01-01" }, ["max"]],
    [{ minLength: 2, maxLength: 1 }, ["maxLength"]],
    [{ minItems: 2, maxItems: 1 }, ["maxItems"]],
    [{ precision: 2, scale: 3 }, ["scale"]],
    [{ positive: true, negative: true }, ["negative"]],
    [{ lowercase: true, uppercase: true }, ["uppercase"]],
    [{ enum: [] }, ["enum"]],
    [{ before: "nowhere", after: "2024-02-30" }, ["before", "after"]],
  ];
  test.each(faulty)("of %j are at %j", (rule, paths) => {
    const faults = ruleFaults({ name: "f", ...rule }, new Set(["f", "ends"]));
    expect(faults.map((fault) => fault.rule)).toEqual(paths);
  });
});

describe("a form of dates", () => {
  test.each<[string, string, Column, string, string]>([
    ["a date", "dd/MM/yyyy", date, "31/01/2026", "2026-01-31"],
    [
      "a date with a time, of a column of dates",
      "dd/MM/yyyy HH:mm",
      date,
      "31/01/2026 10:05",
      "2026-01-31",
    ],
    ["a time", "HH:mm:ss", time, "23:59:58", "23:59:58"],
    [
      "a time stamp",
      "dd/MM/yyyy HH:mm:ss",
      timestamp,
      "31/01/2026 10:05:06",
      "2026-01-31T10:05:06.000000Z",
    ],
    [
      "no seconds",
      "dd.MM.yyyy HH:mm",
      timestamp,
      "31.01.2026 10:05",
      "2026-01-31T10:05:00.000000Z",
    ],
    [
      "a date alone, of a time stamp",
      "MM/dd/yyyy",
      timestamp,
      "01/31/2026",
      "2026-01-31T00:00:00.000000Z",
    ],
    ["ISO 8601 all the same", "dd/MM/yyyy", date, "2026-01-31", "2026-01-31"],
  ])("reads %s", (_, form, own, sent, expected) => {
    const dateForm = readDateForm(form)!;
    const given = { column: own, rule: { dateForm }, body: { f: sent }, mode: "create" } as const;
    expect(String(checkOne(given))).toBe(String(checkOne({ ...given, body: { f: expected } })));
    expect(checkOne(given)).not.toBeInstanceOf(Array);
  });

  test.each(["dd/MM", "dd/dd/yyyy", "MMM yyyy", "d/M/yyyy", "dd/MM/yyyy HH", "HH:mm yyyy", ""])(
    "does not read %j",
    (form) => {
      expect(readDateForm(form)).toBeNull();
    },
  );
});
