/** Formulas without a database: what is parsed, what is refused, and how divisions are combined into one. */
import { describe, expect, test } from "vitest";
import { compute, fractionOf, parseFormula } from "../../core/query/formula.ts";
import type { Formula, Term } from "../../core/values/types/formula-tree.ts";
import { fitsDecimals } from "../../db/engines/mysql/formula-digits.ts";
import { column } from "../values/column.ts";

function read(text: string): Formula {
  const parsed = parseFormula(text);
  if (!parsed.ok) throw new Error(parsed.expected);
  return parsed.formula;
}

/** A term with all its brackets. */
const show = (term: Term | null): string =>
  term === null
    ? "1"
    : term.kind === "operation"
      ? `(${show(term.left)}${term.operator}${show(term.right)})`
      : term.kind === "number"
        ? term.digits
        : term.name;

describe("parseFormula", () => {
  test.each([
    ["a+b*c", "(a+(b*c))"],
    ["a - b - c", "((a-b)-c)"],
    ["(a - (b)) / c", "((a-b)/c)"],
    ["-a * b", "((0-a)*b)"],
    ["a * -2", "(a*(0-2))"],
    ["007.50", "7.5"],
    [" a\n\t*b ", "(a*b)"],
    ["COUNT", "COUNT"],
    ["__proto__ + constructor", "(__proto__+constructor)"],
  ])("reads %j as %s", (text, shown) => {
    expect(show(read(text).root)).toBe(shown);
  });

  test("names each column once", () => {
    expect(read("a * (b + a) / b").names).toEqual(["a", "b"]);
  });

  test.each([
    "",
    " ",
    "a b",
    "a +",
    "* a",
    "()",
    "(a",
    "a)",
    "a ** b",
    "a % b",
    "a(b)",
    "sum(a)",
    "2a",
    "1.",
    ".5",
    "1e5",
    "1_000",
    "a.",
    "a..b",
    "a.1",
    "a; drop table x",
    "a -- b; c",
    "a /* b */",
    "'a'",
    '"a"',
    "`a`",
    "a || b",
    "a, b",
    "a = b",
    "é",
    "a\u0000",
    "process.exit(1)",
    "a?b:c",
  ])("refuses %j", (text) => {
    expect(parseFormula(text)).toMatchObject({ ok: false });
  });

  test.each([
    ["more than 500 characters", `a${"+a".repeat(250)}`],
    ["divisions that multiply", Array.from({ length: 60 }, (_, at) => `a/b${at}`).join("+")],
    ["nested divisions", `${"a/(".repeat(15)}a${")".repeat(15)}`],
  ])("refuses %s", (_, text) => {
    expect(parseFormula(text)).toMatchObject({ ok: false });
  });

  test("takes a long chain and deep brackets within the limits", () => {
    expect(parseFormula(`a${"+a".repeat(249)}`)).toMatchObject({ ok: true });
    expect(parseFormula(`${"(".repeat(249)}a${")".repeat(249)}`)).toMatchObject({ ok: true });
  });

  test("says that divisions are too many", () => {
    expect(parseFormula(`${"a/(".repeat(15)}a${")".repeat(15)}`)).toMatchObject({
      expected: expect.stringContaining("fewer divisions"),
    });
  });

  test("two signs cancel each other", () => {
    expect(parseFormula("--a")).toMatchObject({ formula: { root: { kind: "column", name: "a" } } });
    expect(show(read("1---a").root)).toBe("(1-a)");
  });
});

describe("fractionOf", () => {
  test.each([
    ["a + b", "(a+b)", "1"],
    ["a / b", "a", "b"],
    ["a / b * c", "(a*c)", "b"],
    ["a / b + c", "(a+(c*b))", "b"],
    ["a / b - c / d", "((a*d)-(c*b))", "(b*d)"],
    // The inner divisor stays below as well: it must not be zero.
    ["a / (b / c)", "((a*c)*c)", "(b*c)"],
  ])("makes of %s one division", (text, numerator, denominator) => {
    const fraction = fractionOf(read(text).root);
    expect([show(fraction.numerator), show(fraction.denominator)]).toEqual([
      numerator,
      denominator,
    ]);
  });
});

describe("compute", () => {
  const open = column("decimal");
  test.each([
    ["a * b", "0.00000000000000000001", "3", "0.00000000000000000003"],
    ["a + b", "123456789012345678901234567890", "0.1", "123456789012345678901234567890.1"],
    ["a / b", "1", "3", "0.333333333333"],
    ["a / b", "2", "-3", "-0.666666666667"],
  ])("keeps every digit of %s where the column takes them", (text, a, b, value) => {
    const operands = new Map([
      ["a", a],
      ["b", b],
    ]);
    const computed = compute(read(text), open, (name) => operands.get(name) ?? null);
    expect(computed).toEqual({ ok: true, value });
  });
});

describe("the digits of a database whose decimals have a size", () => {
  const money = column("decimal", { name: "a", precision: 14, scale: 2 });
  const long = column("decimal", { name: "b", precision: 40, scale: 10 });
  const big = column("integer", { name: "c", range: { min: -(2n ** 63n), max: 2n ** 63n - 1n } });
  test.each([
    ["a * a", true],
    ["a * a / 100", true],
    ["c * a * 19 / 100", true],
    ["a / c", true],
    ["b", true],
    ["b + b", true],
    ["b * a", true],
    ["b * b", false],
    ["c * c * c * c", false],
    ["a * a * a * a * a", false],
    ["b / c", true],
    ["b / b", true],
  ])("%s: %s", (text, fits) => {
    const formula = read(text);
    const operands = [money, long, big].filter(({ name }) => formula.names.includes(name));
    expect(fitsDecimals(formula, operands, money)).toBe(fits);
  });
});
