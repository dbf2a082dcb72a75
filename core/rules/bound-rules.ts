/** `min` and `max`: bounds of numbers, dates or times; `before` and `after`: which of two fields is earlier. */
import { z } from "zod";
import { compareDecimals, normalDecimal } from "../values/decimal.ts";
import { anything, type JsonSchema } from "../values/json-schema.ts";
import { columnTypes } from "../values/types/column-types.ts";
import { compareMoments, momentOf } from "../values/formats.ts";
import { exactNumber } from "../values/types/numbers.ts";
import { numberTest } from "./number-rules.ts";
import { defineRule, type Effect, type FieldRule, type RuleDefinition } from "./rule-definition.ts";

type Bound = number | string;

const schema = z
  .union([z.number(), z.string().min(1)])
  .describe(
    "A number (its digits as text where there are many), or a date or time for a field of that type.",
  );

export const min = defineRule<Bound>({
  schema,
  fault: (bound, rule) => (readBound(bound, rule) === null ? `must be ${boundName(rule)}` : null),
  effect: (bound, { rule }) =>
    boundTest(readBound(bound, rule), `must be at least ${bound}`, (side) => side >= 0),
  keywords: (bound, { rule }) => limitOf("minimum", readBound(bound, rule)),
});

export const max = defineRule<Bound>({
  schema,
  fault(bound, rule) {
    if (readBound(bound, rule) === null) return `must be ${boundName(rule)}`;
    return isEmptyRange(rule) ? "is less than `min`" : null;
  },
  effect: (bound, { rule }) =>
    boundTest(readBound(bound, rule), `must be at most ${bound}`, (side) => side <= 0),
  keywords: (bound, { rule }) => limitOf("maximum", readBound(bound, rule)),
});

/** Canonical digits, or a text that sorts by time; null when the value is not of the rule's type. */
function readBound(bound: Bound, { type }: FieldRule): string | null {
  const moment = momentOf(bound);
  switch (type === undefined ? "any" : columnTypes[type].bounds) {
    case "time":
      return moment?.includes("T") === false ? moment : null;
    case "date":
      return moment?.includes("T") === true ? moment : null;
    case "number":
      return normalDecimal(String(bound));
    case "any":
      return normalDecimal(String(bound)) ?? moment;
  }
}

const boundName = ({ type }: FieldRule): string =>
  type === undefined ? "a number, date or time" : `a ${columnTypes[type].bounds}`;

function isEmptyRange(rule: FieldRule): boolean {
  const low = rule.min === undefined ? null : readBound(rule.min, rule);
  const high = rule.max === undefined ? null : readBound(rule.max, rule);
  if (low === null || high === null) return false;
  const isMoment = momentOf(low) !== null;
  if (isMoment !== (momentOf(high) !== null)) return true;
  return isMoment ? (compareMoments(low, high) ?? 1) > 0 : compareDecimals(low, high) > 0;
}

/**
 * `holds` gets a number below, at or above 0, as the value is below, at or above the bound; NaN where the two cannot be
 * compared.
 */
function boundTest(
  bound: string | null,
  message: string,
  holds: (side: number) => boolean,
): Effect | null {
  if (bound === null) return null;
  if (momentOf(bound) === null)
    return numberTest(message, (digits) => holds(compareDecimals(digits, bound)));
  return {
    step: "test",
    message,
    fault: (typed) =>
      holds(compareMoments(momentOf(typed), bound) ?? Number.NaN) ? null : message,
  };
}

/** JSON Schema has bounds for numbers only. */
function limitOf(keyword: "minimum" | "maximum", bound: string | null): JsonSchema {
  const number = bound === null ? null : exactNumber(bound);
  return number === null ? anything : { [keyword]: number };
}

const sideSchema = z.string().min(1).describe('A date, "now", or the name of another field.');

const sideFault: RuleDefinition<string>["fault"] = (bound, _rule, fields) =>
  bound === "now" || fields.has(bound) || momentOf(bound) !== null
    ? null
    : "must be the name of a field, a date or `now`";

const ordered = (word: "before" | "after", holds: (side: number) => boolean) =>
  defineRule<string>({
    schema: sideSchema,
    namesField: true,
    fault: sideFault,
    effect: (bound) => ({ step: "comparison", bound, message: `must be ${word} ${bound}`, holds }),
  });

export const before = ordered("before", (side) => side < 0);
export const after = ordered("after", (side) => side > 0);
