import { describe, expect, test } from "vitest";
import { AppError } from "../../core/values/errors.ts";
import { ExactNumber, parseJson } from "../../core/values/json.ts";
import { limits } from "../../core/values/limits.ts";

const nested = (depth: number, open = "[", close = "]"): string =>
  open.repeat(depth) + close.repeat(depth);

describe("parseJson", () => {
  test.each([
    ["null", null],
    ["true", true],
    ['"a"', "a"],
    ["0", 0],
    ["-12.5", -12.5],
    ["1.0", 1],
    ["1e3", 1000],
    ["1E+2", 100],
    ["120e-1", 12],
    ["0.1", 0.1],
    ["9007199254740991", 9007199254740991],
    ["9007199254740992", 9007199254740992],
    ["1e21", 1e21],
    ["0.1000000000000000000000", 0.1],
    ["0e999", 0],
    [' {"a" : [1, {"b": null}]} ', { a: [1, { b: null }] }],
    ['{"a":1,"a":2}', { a: 2 }],
    ['"1234567890123456789"', "1234567890123456789"],
  ])("reads %s", (text, value) => expect(parseJson(text)).toEqual(value));

  test.each([
    "9007199254740993",
    "-9007199254740993",
    "12345678901234567890",
    "0.12345678901234567890",
    "1e999",
    "-1e999",
    "1e-999",
    "123456789012345678e3",
  ])("keeps the digits of %s", (source) => {
    expect(parseJson(source)).toEqual(new ExactNumber(source));
    expect(parseJson(`{"a":[${source}]}`)).toEqual({ a: [new ExactNumber(source)] });
  });

  test("keeps __proto__ a plain member", () => {
    const value = parseJson('{"__proto__":{"admin":true}}') as object;
    expect(Object.keys(value)).toEqual(["__proto__"]);
    expect("admin" in value).toBe(false);
  });

  test.each([
    ["as deep as allowed", nested(limits.jsonDepthMax)],
    ["with brackets in texts", JSON.stringify(["[".repeat(99), { '{{\\"[': '{"'.repeat(99) }])],
    ["with as many objects side by side as one likes", `[${Array(100).fill("{}").join(",")}]`],
    ["with brackets inside texts", JSON.stringify("[".repeat(100))],
    ["with an escaped backslash before u0000", '"\\\\u0000"'],
  ])("takes a document %s", (_title, text) => expect(parseJson(text)).toEqual(JSON.parse(text)));

  test.each([
    ["nothing", ""],
    ["a broken document", '{"a":'],
    ["more after the end", "{} {}"],
    ["a comment", "{} // a"],
    ["single quotes", "{'a':1}"],
    ["a trailing comma", "[1,]"],
    ["NaN", "NaN"],
    ["a leading zero", "012345678901234567"],
    ["a bare point", ".5"],
    ["a byte order mark", "\ufeff{}"],
    ["arrays too deep", nested(limits.jsonDepthMax + 1)],
    ["arrays too deep behind brackets in texts", `["]]]]\\"]]]",${nested(limits.jsonDepthMax)}]`],
    [
      "objects too deep",
      `${'{"a":'.repeat(limits.jsonDepthMax + 1)}1${"}".repeat(limits.jsonDepthMax + 1)}`,
    ],
    ["arrays far too deep", nested(100_000)],
    ["a NUL in a text", '{"a":"x\\u0000"}'],
    ["a NUL in a name", '{"x\\u0000":1}'],
    ["a NUL beside a long number", '[9007199254740993,"\\u0000"]'],
    ["a raw NUL", '"\0"'],
  ])("refuses %s", (_title, text) => {
    let thrown: unknown;
    try {
      parseJson(text);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(AppError);
    expect((thrown as AppError).kind).toBe("invalidPayload");
  });

  test("takes no longer for a number with a long inner run of zeros", () => {
    const start = performance.now();
    parseJson(`[1${"0".repeat(60_000)}1]`);
    expect(performance.now() - start).toBeLessThan(500);
  });
});
