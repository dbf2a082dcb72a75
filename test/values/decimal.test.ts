import { describe, expect, test } from "vitest";
import {
  addDecimals,
  compareDecimals,
  digitsFault,
  digitsOf,
  divideDecimal,
  normalDecimal,
  subtractDecimals,
} from "../../core/values/decimal.ts";
import { limits } from "../../core/values/limits.ts";

describe("divideDecimal", () => {
  test.each([
    ["1", 3n, 4, "0.3333"],
    ["2", 3n, 4, "0.6667"],
    ["-2", 3n, 4, "-0.6667"],
    ["0.00005", 1n, 4, "0.0001"],
    ["-0.00005", 1n, 4, "-0.0001"],
    ["0.000049999999", 1n, 4, "0"],
    ["27670116110564327420", 3n, 4, "9223372036854775806.6667"],
    ["10", 2n, 0, "5"],
    ["0", 7n, 4, "0"],
  ] as const)("%s by %s with %s places is %s", (dividend, divisor, places, expected) =>
    expect(divideDecimal(dividend, divisor, places)).toBe(expected),
  );
});

describe("normalDecimal", () => {
  test.each([
    ["12.50", "12.5"],
    ["-12.50", "-12.5"],
    ["0", "0"],
    ["-0", "0"],
    ["-0.000", "0"],
    ["0e5", "0"],
    ["007", "7"],
    ["000.100", "0.1"],
    ["100", "100"],
    ["1e3", "1000"],
    ["1.5E+3", "1500"],
    ["1.25e1", "12.5"],
    ["-1.25e-3", "-0.00125"],
    ["120e-1", "12"],
    ["1e-1000", `0.${"0".repeat(999)}1`],
    ["12345678901234567890.12345678901234567890", "12345678901234567890.1234567890123456789"],
  ])("%s is %s", (text, expected) => expect(normalDecimal(text)).toBe(expected));

  test.each([
    "",
    "-",
    "+5",
    " 5",
    "5 ",
    "5\n",
    ".5",
    "5.",
    "1.2.3",
    "1e",
    "e5",
    "1e1.5",
    "0x1",
    "NaN",
    "Infinity",
    "1_000",
    "٣",
  ])("%j is no number", (text) => expect(normalDecimal(text)).toBeNull());

  test.each([
    "1e1001",
    "1e-1001",
    "1e400000",
    "1e99999999999999999999",
    "0".repeat(limits.decimalLengthMax + 1),
  ])("a number that would be a giant text is refused (%#)", (text) =>
    expect(normalDecimal(text)).toBeNull(),
  );

  test("a long inner run of zeros takes no time", () => {
    const text = `0.1${"0".repeat(limits.decimalLengthMax - 10)}1`;
    const start = performance.now();
    for (let round = 0; round < 100; round++) normalDecimal(text);
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});

describe("arithmetic", () => {
  test.each([
    ["0.1", "0.2", "0.3"],
    ["12.5", "-12.5", "0"],
    ["99.99", "0.01", "100"],
    ["-1", "0.25", "-0.75"],
    ["-0.05", "0", "-0.05"],
    ["3", "4", "7"],
    ["-5", "5", "0"],
    ["0", "-5", "-5"],
    ["999999999999999", "999999999999999", "1999999999999998"],
    ["-99999999999999", "-99999999999999", "-199999999999998"],
    ["1000000000000000", "999999999999999", "1999999999999999"],
    ["9007199254740993", "0.0000000000000001", "9007199254740993.0000000000000001"],
  ])("%s and %s make %s", (left, right, sum) => {
    expect(addDecimals(left, right)).toBe(sum);
    expect(subtractDecimals(sum, right)).toBe(left);
  });

  test.each([
    ["1", "1", 0],
    ["-1", "1", -1],
    ["2", "10", -1],
    ["-2", "-10", 1],
    ["0.1", "0.09", 1],
    ["9007199254740993", "9007199254740992", 1],
    ["-9007199254740993", "-9007199254740992.5", -1],
    ["0.1234567890123456789", "0.1234567890123456788", 1],
  ])("%s against %s is %i", (left, right, sign) => {
    expect(Math.sign(compareDecimals(left, right))).toBe(sign);
    expect(Math.sign(compareDecimals(right, left))).toBe(-sign + 0);
  });
});

describe("digits", () => {
  test.each([
    ["0", 0, 0],
    ["12.5", 3, 1],
    ["-12.5", 3, 1],
    ["1200", 2, -2],
    ["0.05", 1, 2],
    ["-0.0503", 3, 4],
    ["10.01", 4, 2],
  ])("%s has precision %i and scale %i", (text, precision, scale) => {
    expect(digitsOf(text)).toEqual({ precision, scale });
  });

  test.each([
    ["999.99", 5, 2, null],
    ["1000", 5, 2, "must have at most 3 digits before the decimal point"],
    ["0.001", 5, 2, "must have at most 2 digits after the decimal point"],
    ["0.00999", 3, 5, null],
    ["0.01", 3, 5, "must be smaller than 0.01"],
    ["1200", 2, -2, null],
    ["1250", 3, -2, "must be a multiple of 100"],
    ["123456", 5, null, "must have at most 5 digits"],
    ["0.1", null, 0, "must have at most 0 digits after the decimal point"],
  ])("%s against precision %s and scale %s says %s", (text, precision, scale, message) => {
    expect(digitsFault(text, precision, scale)).toBe(message);
  });

  test.each([
    ["1.5", null],
    ["-0.00000000000000000001", null],
    ["120000000000000000", null],
    ["1234567890.123456", "must have at most 15 digits"],
    ["0.0000123456789012345", null],
  ])("%s of which 15 are kept says %s", (text, message) => {
    expect(digitsFault(text, 38, 20, 15)).toBe(message);
  });
});
