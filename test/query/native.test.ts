/** How an operator's SQL and its values become a statement: which placeholders count, and how each value is sent. */
import { expect, test } from "vitest";
import { ExactNumber } from "../../core/values/json.ts";
import { nativeOf, type NativeParams } from "../../core/query/native.ts";

/** The text with a mark for each value. */
const shown = (sql: string, params: NativeParams): string => nativeOf(sql, params).texts.join("¤");

test.each<[string, string, NativeParams, string]>([
  ["by place", "select ? + ?", [1, 2], "select ¤ + ¤"],
  ["by number in any order", "select $2, $1, $2", [1, 2], "select ¤, ¤, ¤"],
  [
    "two digits of a number",
    `select ${Array.from({ length: 11 }, (_, at) => `$${at + 1}`).join()}`,
    Array(11).fill(1),
    `select ${Array(11).fill("¤").join()}`,
  ],
  ["by name", "select :a, :b_2, :a", { a: 1, b_2: 2 }, "select ¤, ¤, ¤"],
  [
    "question marks that are operators beside numbers",
    "select tags ? $1",
    ["a"],
    "select tags ? ¤",
  ],
  ["question marks beside names", "select tags ? :a", { a: "a" }, "select tags ? ¤"],
  ["casts beside names", "select :a::text, x::int", { a: 1 }, "select ¤::text, x::int"],
  [
    "slices beside names",
    "select list[1:2], list[a:b], :b",
    { b: 1 },
    "select list[1:2], list[a:b], ¤",
  ],
  ["marks in literals", "select '?', 'it''s ?', ?", [1], "select '?', 'it''s ?', ¤"],
  ["marks in quoted names", 'select "a?", `b?`, ?', [1], 'select "a?", `b?`, ¤'],
  ["marks in comments", "select ? -- ?\n, /* ? */ ?", [1, 2], "select ¤ -- ?\n, /* ? */ ¤"],
  ["marks between dollars", "select $$ ? $$, $x$ ? $x$, ?", [1], "select $$ ? $$, $x$ ? $x$, ¤"],
  ["numbers in literals", "select '$2', $1", [1], "select '$2', ¤"],
  ["a division and a subtraction", "select ? / 2 - ?", [1, 2], "select ¤ / 2 - ¤"],
  ["no placeholder", "select 1", [], "select 1"],
  ["no placeholder, names to spare", "select 1", { a: 1 }, "select 1"],
  ["a bracket in front", "(select ?)", [1], "(select ¤)"],
])("finds %s", (_, sql, params, text) => {
  expect(shown(sql, params)).toBe(text);
});

test("sends a value that stands in several places once, where it has a number or a name", () => {
  expect(nativeOf("select $2, $1, $2", [1, 2])).toMatchObject({
    order: [0, 1, 0],
    values: [{ value: 2n }, { value: 1n }],
  });
  expect(nativeOf("select :a, :b, :a", { a: 1, b: 2 }).order).toEqual([0, 1, 0]);
  expect(nativeOf("select ?, ?", [1, 1]).order).toEqual([0, 1]);
});

test("sends each value as what it is", () => {
  const values = [
    1,
    -0.5,
    9007199254740993n,
    "a",
    true,
    null,
    new Date(0),
    [1],
    { a: 1 },
    new ExactNumber("12345678901234567890"),
    new ExactNumber("0.12345678901234567891"),
  ];
  const sql = `select ${values.map(() => "?").join(", ")}`;
  expect(nativeOf(sql, values).values).toEqual([
    { type: "integer", value: 1n },
    { type: "float", value: -0.5 },
    { type: "integer", value: 9007199254740993n },
    { type: "text", value: "a" },
    { type: "boolean", value: true },
    { type: "text", value: null },
    { type: "timestamp", value: "1970-01-01T00:00:00.000Z" },
    { type: "json", value: "[1]" },
    { type: "json", value: '{"a":1}' },
    { type: "integer", value: 12345678901234567890n },
    { type: "decimal", value: "0.12345678901234567891" },
  ]);
});

test.each<[string, string, boolean]>([
  ["SELECT", "select 1", true],
  ["SELECT behind a comment", "/* delete */ -- x\n SELECT 1", true],
  ["SELECT … FOR UPDATE", "select 1 from t for update", true],
  ["VALUES", "values (1)", true],
  ["WITH", "with a as (select 'delete') select * from a", true],
  ["WITH that deletes", "with a as (delete from t returning *) select * from a", false],
  ["INSERT", "insert into t values (1)", false],
  ["UPDATE", "update t set a = 1", false],
  ["DELETE", "delete from t", false],
  ["MERGE", "merge into t using s on 1 = 1 when matched then delete", false],
  ["REPLACE", "replace into t values (1)", false],
])("knows whether it writes: %s", (_, sql, isRead) => {
  expect(nativeOf(sql, []).isRead).toBe(isRead);
});

test.each<[string, string, NativeParams, string]>([
  ["two statements", "select 1; select 2", [], "one statement"],
  ["nothing", " ; ", [], "no statement"],
  ["another word", "vacuum", [], "SELECT, INSERT"],
  ["a word that begins like one", "selection", [], "SELECT, INSERT"],
  ["another word in brackets", "(call f())", [], "SELECT, INSERT"],
  ["a literal that ends where the engine says", "select 'a\\' , ? , '", [1], "backslash"],
  ["a missing value", "select ?, ?", [1], "number 2"],
  ["a value too many", "select ?", [1, 2], "2 values and 1 placeholders"],
  ["a number that skips values", "select $3", [1, 2], "number 3"],
  ["an unknown name", "select :nme", { name: 1 }, ":nme"],
  ["a symbol", "select ?", [Symbol("x")], "number 1"],
])("refuses %s", (_, sql, params, words) => {
  expect(() => nativeOf(sql, params)).toThrow(TypeError);
  expect(() => nativeOf(sql, params)).toThrow(words);
});

test("takes a backslash that no engine can read as the end of a literal", () => {
  expect(shown("select 'a\\b', ?", [1])).toBe("select 'a\\b', ¤");
});
