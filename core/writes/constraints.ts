/**
 * The constraints of one field's rule as a list of small tests, made once. A test gets the value in the form of its type
 * (see `Scalar`) and as it was sent, and answers a message or null. `core/writes/rules.ts` runs them after the type was accepted.
 */
import { z } from "zod";
import { compareDecimals, digitsOf, normalDecimal } from "../decimal.ts";
import type { Column } from "../column.ts";
import {
  readBound,
  readPattern,
  type ConstraintName,
  type FieldRule,
  type RuleFormat,
} from "./field-rule.ts";
import { momentOf } from "../values/formats.ts";
import { limits } from "../limits.ts";
import type { Scalar } from "../statement.ts";
import { characterCount, isLonger } from "../text.ts";
import { accept } from "../values/accept.ts";

export interface FieldTest {
  readonly constraint: ConstraintName;
  /** What is wrong, or null. `typed` is never null. */
  run(typed: Scalar, sent: unknown): string | null;
}

/** The tests of a rule, for values that were accepted by `bare`, a column of the rule's type without limits. */
export function fieldTests(rule: FieldRule, bare: Column): FieldTest[] {
  return [
    ...textTests(rule),
    ...enumTests(rule, bare),
    ...boundTests(rule),
    ...numberTests(rule),
    ...itemTests(rule),
  ];
}

const phoneText = /^\+?[ ()./-]{0,2}\d(?:[ ()./-]{0,3}\d){4,14}$/;

const formats: Readonly<
  Record<RuleFormat, { readonly test: (text: string) => boolean; readonly message: string }>
> = {
  email: { test: matches(z.email()), message: "must be an e-mail address" },
  phone: { test: (text) => phoneText.test(text), message: "must be a phone number" },
  // Zod reads past blanks around the address, which would then be stored.
  url: {
    test: (text) => text === text.trim() && matches(z.url({ protocol: /^https?$/ }))(text),
    message: "must be a web address (http or https)",
  },
  uuid: { test: matches(z.guid()), message: "must be a UUID" },
};

function matches(schema: z.ZodType): (text: string) => boolean {
  return (text) => schema.safeParse(text).success;
}

function textTests({ minLength, maxLength, pattern, format }: FieldRule): FieldTest[] {
  const tests: FieldTest[] = [];
  const add = (
    constraint: ConstraintName,
    message: string,
    holds: (text: string) => boolean,
  ): void => {
    tests.push({ constraint, run: (typed) => (holds(String(typed)) ? null : message) });
  };
  if (minLength !== undefined) {
    add(
      "minLength",
      `must have at least ${minLength} characters`,
      (text) => characterCount(text) >= minLength,
    );
  }
  if (maxLength !== undefined) {
    add(
      "maxLength",
      `must have at most ${maxLength} characters`,
      (text) => !isLonger(text, maxLength),
    );
  }
  const expression = pattern === undefined ? null : readPattern(pattern);
  if (expression !== null) {
    add(
      "pattern",
      "does not have the right form",
      (text) => text.length <= limits.testedTextLengthMax && expression.test(text),
    );
  }
  if (format !== undefined) {
    const { test, message } = formats[format];
    add("format", message, (text) => text.length <= limits.testedTextLengthMax && test(text));
  }
  return tests;
}

function enumTests(rule: FieldRule, bare: Column): FieldTest[] {
  if (rule.enum === undefined) return [];
  const allowed = new Set<Scalar>();
  for (const member of rule.enum) {
    const typed = accept(bare, member);
    if (typed.ok) allowed.add(typed.value);
  }
  const message = `must be one of: ${rule.enum.map((member) => (typeof member === "string" ? member : JSON.stringify(member))).join(", ")}`;
  return [{ constraint: "enum", run: (typed) => (allowed.has(typed) ? null : message) }];
}

function boundTests(rule: FieldRule): FieldTest[] {
  const tests: FieldTest[] = [];
  for (const constraint of ["min", "max"] as const) {
    const bound = readBound(rule, constraint);
    if (bound === null) continue;
    const sign = constraint === "min" ? 1 : -1;
    const message = `must be at ${constraint === "min" ? "least" : "most"} ${rule[constraint]}`;
    const isMoment = momentOf(bound) !== null;
    const run: FieldTest["run"] = isMoment
      ? (typed) => (compareMoments(momentOf(typed), bound) * sign >= 0 ? null : message)
      : (typed) =>
          numberFault(typed, message, (digits) => compareDecimals(digits, bound) * sign >= 0);
    tests.push({ constraint, run });
  }
  return tests;
}

/** NaN, which no bound takes, for what is no moment, and between a time of day and a date. */
function compareMoments(left: string | null, right: string): number {
  if (left === null || left.length !== right.length) return Number.NaN;
  return left < right ? -1 : left > right ? 1 : 0;
}

function numberTests({ positive, negative, integer, precision, scale }: FieldRule): FieldTest[] {
  const tests: FieldTest[] = [];
  const add = (
    constraint: ConstraintName,
    message: string,
    holds: (digits: string) => boolean,
  ): void => {
    tests.push({ constraint, run: (typed) => numberFault(typed, message, holds) });
  };
  if (positive === true)
    add(
      "positive",
      "must be greater than 0",
      (digits) => digits !== "0" && !digits.startsWith("-"),
    );
  if (negative === true) add("negative", "must be less than 0", (digits) => digits.startsWith("-"));
  if (integer === true) add("integer", "must be a whole number", (digits) => !digits.includes("."));
  if (scale !== undefined) {
    add(
      "scale",
      `must have at most ${scale} digits behind the point`,
      (digits) => digitsOf(digits).scale <= scale,
    );
  }
  if (precision !== undefined) {
    const message =
      scale === undefined
        ? `must have at most ${precision} digits`
        : `must have at most ${precision - scale} digits before the point`;
    // Too many digits behind the point are the matter of `scale`.
    add("precision", message, (digits) => {
      const { precision: count, scale: places } = digitsOf(digits);
      return scale === undefined
        ? count + Math.max(-places, 0) <= precision
        : count - places <= precision - scale;
    });
  }
  return tests;
}

function numberFault(
  typed: Scalar,
  message: string,
  holds: (digits: string) => boolean,
): string | null {
  const digits = decimalOf(typed);
  if (digits === null) return "must be a number";
  return holds(digits) ? null : message;
}

/** Canonical digits of an accepted number, also of one that stands in a text; null for all else. */
function decimalOf(typed: Scalar): string | null {
  const isNumeric =
    typeof typed === "bigint" || typeof typed === "number" || typeof typed === "string";
  return isNumeric ? normalDecimal(String(typed)) : null;
}

function itemTests({ minItems, maxItems, uniqueItems }: FieldRule): FieldTest[] {
  const tests: FieldTest[] = [];
  const add = (
    constraint: ConstraintName,
    message: string,
    holds: (items: unknown[]) => boolean,
  ): void => {
    const run = (_typed: Scalar, sent: unknown): string | null => {
      if (!Array.isArray(sent)) return "must be an array";
      return holds(sent) ? null : message;
    };
    tests.push({ constraint, run });
  };
  if (minItems !== undefined)
    add("minItems", `must have at least ${minItems} items`, (items) => items.length >= minItems);
  if (maxItems !== undefined)
    add("maxItems", `must have at most ${maxItems} items`, (items) => items.length <= maxItems);
  if (uniqueItems === true) {
    const isUnique = (items: unknown[]): boolean =>
      new Set(items.map((item) => JSON.stringify(item))).size === items.length;
    add("uniqueItems", "must not hold an item twice", isUnique);
  }
  return tests;
}
