/** Form encoding with bracketed names: how it is parsed, and which forms are refused. */
import { describe, expect, test } from "vitest";
import { nestNames, parseForm } from "../../app/http/form.ts";
import { limits } from "../../core/values/limits.ts";

describe("a form stands for", () => {
  test.each<[string, string, unknown]>([
    ["nothing", "", {}],
    ["nothing between ampersands", "&&", {}],
    ["a value", "draw=1", { draw: "1" }],
    ["an empty value", "draw=", { draw: "" }],
    ["an empty value without an equals sign", "draw", { draw: "" }],
    ["a value with an equals sign", "a=b=c", { a: "b=c" }],
    [
      "an object",
      "search[value]=x&search[regex]=false",
      { search: { value: "x", regex: "false" } },
    ],
    [
      "a list of objects",
      "order[0][column]=2&order[0][dir]=asc&order[1][column]=0",
      { order: [{ column: "2", dir: "asc" }, { column: "0" }] },
    ],
    ["a list in another order", "a[1]=y&a[0]=x", { a: ["x", "y"] }],
    ["an object for a list with gaps", "a[0]=x&a[2]=z", { a: { 0: "x", 2: "z" } }],
    ["an object for a huge index", "a[4294967294]=x", { a: { 4294967294: "x" } }],
    ["an object for an index with a leading zero", "a[00]=x", { a: { "00": "x" } }],
    ["a list that grows", "a[]=x&a[]=y", { a: ["x", "y"] }],
    ["objects that are added", "a[][b]=x&a[][b]=y", { a: [{ b: "x" }, { b: "y" }] }],
    ["the last of two equal names", "a=1&a=2", { a: "2" }],
    ["a blank for a plus sign", "a+b=c+d%2B", { "a b": "c d+" }],
    ["encoded brackets", "search%5Bvalue%5D=x", { search: { value: "x" } }],
    ["text beyond ASCII", "a=%C3%89clair+%F0%9F%8D%B0&b=é", { a: "Éclair 🍰", b: "é" }],
    ["a name whose bracket does not close", "a[b=1", { "a[b": "1" }],
    ["a name with text behind its bracket", "a[b]c=1", { "a[b]c": "1" }],
    ["a name that begins with a bracket", "[a]=1", { "[a]": "1" }],
    ["a name with a bracket in a bracket", "a[b[c]]=1", { "a[b[c]]": "1" }],
  ])("%s", (_, text, expected) => {
    expect(parseForm(text)).toStrictEqual(expected);
  });

  test("a list of 600 columns", () => {
    const columns = Array.from({ length: 600 }, (_, at) => ({
      data: `c${at}`,
      search: { value: "", regex: "false" },
    }));
    const text = columns
      .map(
        ({ data }, at) =>
          `columns[${at}][data]=${data}&columns[${at}][search][value]=&columns[${at}][search][regex]=false`,
      )
      .join("&");
    expect(parseForm(`${text}&start=20`)).toEqual({ columns, start: "20" });
  });

  test("as much as the limits allow", () => {
    const deep = `a${"[b]".repeat(limits.jsonDepthMax - 1)}=1`;
    expect(JSON.stringify(parseForm(deep))).toContain('"b":"1"');
    expect(Object.keys(parseForm(pairs(limits.formPairsMax)))).toHaveLength(limits.formPairsMax);
  });
});

const pairs = (count: number) => Array.from({ length: count }, (_, at) => `n${at}=1`).join("&");

describe("names in JSON", () => {
  test("without brackets leave the object as it is", () => {
    const body = { "a.b": 1, c: { "d[0]": 2 } };
    expect(nestNames(body)).toBe(body);
  });

  test("with brackets nest, and values stay as they are", () => {
    const where = { "x[0]": [1] };
    const body = { "a[0][b]": 2, "a[1][b]": null, where, "d[2]": false };
    expect(nestNames(body)).toStrictEqual({ a: [{ b: 2 }, { b: null }], where, d: { 2: false } });
  });

  test.each([
    ["a null that is a list too", { a: null, "a[0]": 1 }],
    ["a list that is a value too", { "a[0]": 1, a: [] }],
    ["a prototype's name", { "a[constructor]": 1 }],
    [
      "too many members",
      Object.fromEntries(
        Array.from({ length: limits.formPairsMax + 1 }, (_, at) => [`a[${at}]`, 1]),
      ),
    ],
  ])("are refused with %s", (_, body) => {
    expect(() => nestNames(body)).toThrow(
      expect.objectContaining({ name: "AppError", kind: "invalidPayload" }),
    );
  });
});

describe("a form is refused with", () => {
  test.each([
    ["__proto__", "__proto__=1"],
    ["__proto__ inside", "a[__proto__][polluted]=1"],
    ["constructor", "constructor[prototype][polluted]=1"],
    ["prototype inside", "columns[0][prototype]=1"],
    ["an encoded prototype", "%5F_proto__[x]=1"],
    ["a value that is a list too", "a=1&a[b]=2"],
    ["a list that is a value too", "a[b]=2&a=1"],
    ["a broken percent sign", "a=100%"],
    ["bytes that are not UTF-8", "a=%FF"],
    ["an encoded half of a pair", "a=%ED%A0%80"],
    ["a NUL character in a value", "a=x%00"],
    ["a NUL character in a name", "a%00=x"],
    ["too many values", pairs(limits.formPairsMax + 1)],
    ["too deep a name", `a${"[b]".repeat(limits.jsonDepthMax)}=1`],
    ["a name of many brackets", `a${"[]".repeat(500_000)}=1`],
  ])("%s", (_, text) => {
    expect(() => parseForm(text)).toThrow(
      expect.objectContaining({ name: "AppError", kind: "invalidPayload" }),
    );
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });
});
