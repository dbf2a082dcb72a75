/** Rules for fields of every type: whether there is a value, which ones, and in which form. And those for lists. */
import { z } from "zod";
import { anything } from "../values/json-schema.ts";
import { canonicalJson, type Json } from "../values/json.ts";
import type { Scalar } from "../values/scalar.ts";
import { accept } from "../values/types/accept.ts";
import { columnTypes } from "../values/types/column-types.ts";
import { defineRule, type Effect, type RuleContext, isAbove } from "./rule-definition.ts";

export const required = defineRule<boolean>({
  schema: z
    .boolean()
    .describe("The field must be sent with a value; on update: it cannot be emptied."),
  effect: (isRequired) =>
    isRequired
      ? { step: "presence", isNeeded: true, message: "is required", refuses: () => true }
      : null,
  // The schema of the field refuses null.
  keywords(isRequired, { rule, bare }) {
    if (!isRequired || !columnTypes[bare.type].isText) return anything;
    // A text of blanks is empty after they are removed.
    return rule.trim === true ? { minLength: 1, pattern: "\\S" } : { minLength: 1 };
  },
});

export const nullable = defineRule<boolean>({
  schema: z.boolean().describe("false: null is refused."),
  effect: (isNullable) =>
    isNullable
      ? null
      : {
          step: "presence",
          isNeeded: false,
          message: "must not be null",
          refuses: (value) => value === null,
        },
});

export const standIn = defineRule<unknown>({
  schema: z.unknown().describe("Taken on create when the field is not sent."),
  hasMessage: false,
  effect: (value) => ({ step: "default", value }),
  keywords: (value) => (isPlain(value) ? { default: value } : anything),
});

const isPlain = (value: unknown): value is string | number | boolean | null =>
  value === null || ["string", "number", "boolean"].includes(typeof value);

export const unique = defineRule<boolean>({
  schema: z.boolean().describe("For readers: the database's own unique constraint decides."),
  effect: () => null,
});

export const oneOf = defineRule<readonly Json[]>({
  schema: z
    .array(z.union([z.string(), z.number(), z.boolean(), z.null()]))
    .min(1)
    .describe("The only values."),
  fault: (members) => (members.length === 0 ? "must list at least one value" : null),
  effect: membership,
  keywords: (members) => ({ enum: members }),
});

function membership(members: readonly Json[], { bare }: RuleContext): Effect {
  const allowed = new Set<Scalar>();
  for (const member of members) {
    const typed = accept(bare, member);
    if (typed.ok) allowed.add(typed.value);
  }
  const names = members.map((member) =>
    typeof member === "string" ? member : JSON.stringify(member),
  );
  const message = `must be one of: ${names.join(", ")}`;
  return { step: "test", message, fault: (typed) => (allowed.has(typed) ? null : message) };
}

export const strict = defineRule<boolean>({
  schema: z.boolean().describe("No conversion: a number as text, for one, is refused."),
  effect(isStrict, { bare }) {
    const form = columnTypes[bare.type].strict;
    if (!isStrict || form === null) return null;
    const message = `must be ${form.expected}`;
    return { step: "form", message, fault: (sent) => (form.holds(sent) ? null : message) };
  },
  keywords(isStrict, { bare }) {
    const form = columnTypes[bare.type].strict;
    return isStrict && form !== null ? { type: form.jsonType } : anything;
  },
});

/** A test of a list, as it was sent. */
const listTest = (message: string, holds: (items: unknown[]) => boolean): Effect => ({
  step: "test",
  message,
  fault(_typed, sent) {
    if (!Array.isArray(sent)) return "must be an array";
    return holds(sent) ? null : message;
  },
});

export const minItems = defineRule<number>({
  schema: z.int().min(0).describe("Fewest items of a list."),
  effect: (min) => listTest(`must have at least ${min} items`, (items) => items.length >= min),
  keywords: (min) => ({ type: "array", minItems: min }),
});

export const maxItems = defineRule<number>({
  schema: z.int().min(0).describe("Most items of a list."),
  fault: (max, rule) => (isAbove(rule.minItems, max) ? "is less than `minItems`" : null),
  effect: (max) => listTest(`must have at most ${max} items`, (items) => items.length <= max),
  keywords: (max) => ({ type: "array", maxItems: max }),
});

export const uniqueItems = defineRule<boolean>({
  schema: z.boolean().describe("No item of the list twice."),
  effect: (isOn) =>
    isOn
      ? listTest(
          "must not hold an item twice",
          (items) => new Set(items.map(canonicalJson)).size === items.length,
        )
      : null,
  keywords: (isOn) => (isOn ? { type: "array", uniqueItems: true } : anything),
});
