/** Rules for numbers, also for those in a text. They check canonical digits. */
import { z } from "zod";
import { anything } from "../values/json-schema.ts";
import { digitsOf, normalDecimal } from "../values/decimal.ts";
import type { Scalar } from "../values/scalar.ts";
import { defineRule, type Effect, isAbove, noKeywords } from "./rule-definition.ts";

/** A test of the value's digits; a value that is not a number is refused as such. */
export const numberTest = (message: string, holds: (digits: string) => boolean): Effect => ({
  step: "test",
  message,
  fault(typed) {
    const digits = decimalOf(typed);
    if (digits === null) return "must be a number";
    return holds(digits) ? null : message;
  },
});

/** Canonical digits of an accepted number, also of one in a text; null for everything else. */
function decimalOf(typed: Scalar): string | null {
  const isNumeric =
    typeof typed === "bigint" || typeof typed === "number" || typeof typed === "string";
  return isNumeric ? normalDecimal(String(typed)) : null;
}

export const positive = defineRule<boolean>({
  schema: z.boolean().describe("Greater than 0."),
  effect: (isOn) =>
    isOn
      ? numberTest("must be greater than 0", (digits) => digits !== "0" && !digits.startsWith("-"))
      : null,
  keywords: (isOn) => (isOn ? { exclusiveMinimum: 0 } : anything),
});

export const negative = defineRule<boolean>({
  schema: z.boolean().describe("Less than 0."),
  fault: (isOn, rule) => (isOn && rule.positive === true ? "contradicts `positive`" : null),
  effect: (isOn) =>
    isOn ? numberTest("must be less than 0", (digits) => digits.startsWith("-")) : null,
  keywords: (isOn) => (isOn ? { exclusiveMaximum: 0 } : anything),
});

export const integer = defineRule<boolean>({
  schema: z.boolean().describe("A whole number."),
  effect: (isOn) =>
    isOn ? numberTest("must be a whole number", (digits) => !digits.includes(".")) : null,
  keywords: (isOn) => (isOn ? { multipleOf: 1 } : anything),
});

export const scale = defineRule<number>({
  schema: z.int().min(0).describe("Most digits after the decimal point."),
  fault: (places, rule) => (isAbove(places, rule.precision) ? "is more than `precision`" : null),
  effect: (places) =>
    numberTest(
      `must have at most ${places} digits after the decimal point`,
      (digits) => digitsOf(digits).scale <= places,
    ),
  // `multipleOf: 0.01` would be computed in floating point, in which 0.07 is not a multiple of it.
  keywords: noKeywords,
});

export const precision = defineRule<number>({
  schema: z.int().min(1).describe("Most digits in all."),
  effect(most, { rule }) {
    const places = rule.scale;
    if (places === undefined) {
      return numberTest(`must have at most ${most} digits`, (digits) => {
        const { precision: count, scale: own } = digitsOf(digits);
        return count + Math.max(-own, 0) <= most;
      });
    }
    // `scale` checks for too many digits after the decimal point.
    return numberTest(
      `must have at most ${most - places} digits before the decimal point`,
      (digits) => {
        const { precision: count, scale: own } = digitsOf(digits);
        return count - own <= most - places;
      },
    );
  },
  keywords(most, { rule }) {
    const end = 10 ** (most - (rule.scale ?? 0));
    return Number.isFinite(end) ? { exclusiveMinimum: -end, exclusiveMaximum: end } : anything;
  },
});
