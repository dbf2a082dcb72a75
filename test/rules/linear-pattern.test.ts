/** Operators' patterns have the meaning that they have in JavaScript, and none blocks the process. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readLinearPattern } from "../../core/rules/linear-pattern.ts";

const matches = (source: string, text: string): boolean => {
  const read = readLinearPattern(source);
  if (typeof read === "string") throw new Error(read);
  return read.test(text);
};

describe("a pattern", () => {
  test.each([
    ["^(a+)+$", "a"],
    ["^(a|aa)+$", "a"],
    ["^([a-z]+)*$", "a"],
    ["^(\\w+\\s?)*$", "a "],
    ["(x+x+)+y", "x"],
  ])("that backtracks, %s, is checked at once", (source, text) => {
    const before = process.cpuUsage();
    expect(matches(source, `${text.repeat(2_000)}!`)).toBe(false);
    // Microseconds; JavaScript's own engine takes eleven seconds for 30 characters.
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
  });

  test.each(["(?=a)b", "(?!a)b", "(?<=a)b", "(?<!a)b", "(a)\\1", "(?<n>a)\\k<n>"])(
    "that only backtracking can check, %s, is refused",
    (source) => {
      expect(readLinearPattern(source)).toMatch(/^holds a lookahead, a lookbehind or a back-ref/);
    },
  );

  test.each(["a{1,2000}", "\\p{Script=Greek}"])("with what RE2 lacks, %s, is refused", (source) => {
    expect(readLinearPattern(source)).toMatch(/^holds syntax that RE2/);
  });

  test.each(["(", "[a", "*"])("that is none, %s, is refused", (source) => {
    expect(readLinearPattern(source)).toBe("is not a regular expression");
  });

  const signs = [
    "a",
    "b",
    "B",
    "7",
    "_",
    "-",
    "[",
    "]",
    "\\",
    "/",
    ":",
    ".",
    " ",
    "\t",
    "\n",
    "\v",
    "\r",
  ];
  const farSigns = ["\b", "\0", "\u00a0", "\u2028", "\ufeff", "é", "ſ", "K", "😀"];
  const text = fc.array(fc.constantFrom(...signs, ...farSigns), { maxLength: 6 });
  const atoms = [
    "a",
    "b",
    ".",
    "\\s",
    "\\S",
    "\\d",
    "\\D",
    "\\w",
    "\\W",
    "\\b",
    "\\B",
    "^",
    "$",
    "\\.",
    "\\/",
  ];
  const farAtoms = [
    "\\-",
    "\\u00e9",
    "\\u{1F600}",
    "\\xe9",
    "\\cJ",
    "\\0",
    "\\v",
    "\\[",
    "\\\\",
    "é",
  ];
  const classes = [
    "[ab]",
    "[^ab]",
    "[\\s]",
    "[^\\s]",
    "[\\S]",
    "[^\\S\\n]",
    "[\\b]",
    "[.]",
    "[\\w.-]",
    "[:a]",
  ];
  const farClasses = [
    "[^]",
    "[[]",
    "[a-z\\d]",
    "[\\u0000-\\u{10FFFF}]",
    "[\\]\\\\]",
    "[[:a]",
    "[-a]",
  ];
  const atom = fc.constantFrom(...atoms, ...farAtoms, ...classes, ...farClasses);
  const piece = fc.tuple(atom, fc.constantFrom("", "*", "+", "?", "{2}", "{1,3}", "*?"));
  const pattern = fc
    .array(
      fc.oneof(piece, fc.tuple(fc.constantFrom("(", ")", "|", "(?:", "(?<n>"), fc.constant(""))),
      { maxLength: 6 },
    )
    .map((pieces) => pieces.map((one) => one.join("")).join(""))
    // JavaScript takes a name twice where only one of the two can match; here it is refused.
    .filter((source) => source.split("(?<n>").length <= 2);

  test("means what it means in JavaScript", () => {
    let compared = 0;
    fc.assert(
      fc.property(pattern, text, (source, signs) => {
        let expression: RegExp;
        try {
          expression = new RegExp(source, "u");
        } catch {
          return;
        }
        const whole = signs.join("");
        const read = readLinearPattern(source);
        expect(read, source).toBeTypeOf("object");
        compared++;
        expect(matches(source, whole), `${source} on ${JSON.stringify(whole)}`).toBe(
          expression.test(whole),
        );
      }),
      { numRuns: 5_000 },
    );
    expect(compared).toBeGreaterThan(1_000);
  });
});
