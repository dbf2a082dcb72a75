/** Rules for lists. They look at the value as it was sent. */
import { z } from "zod";
import { anything } from "../values/json-schema.ts";
import { type Effect, isAbove, noFault, type RuleDefinition } from "./rule-definition.ts";

const testOf = (message: string, holds: (items: unknown[]) => boolean): Effect => ({
  step: "test",
  message,
  fault(_typed, sent) {
    if (!Array.isArray(sent)) return "must be an array";
    return holds(sent) ? null : message;
  },
});

export const minItems: RuleDefinition<number> = {
  schema: z.int().min(0).describe("Fewest items of a list."),
  hasMessage: true,
  namesField: false,
  fault: noFault,
  effect: (min) => testOf(`must have at least ${min} items`, (items) => items.length >= min),
  keywords: (min) => ({ type: "array", minItems: min }),
};

export const maxItems: RuleDefinition<number> = {
  schema: z.int().min(0).describe("Most items of a list."),
  hasMessage: true,
  namesField: false,
  fault: (max, rule) => (isAbove(rule.minItems, max) ? "is less than `minItems`" : null),
  effect: (max) => testOf(`must have at most ${max} items`, (items) => items.length <= max),
  keywords: (max) => ({ type: "array", maxItems: max }),
};

export const uniqueItems: RuleDefinition<boolean> = {
  schema: z.boolean().describe("No item of the list twice."),
  hasMessage: true,
  namesField: false,
  fault: noFault,
  effect: (isOn) =>
    isOn
      ? testOf(
          "must not hold an item twice",
          (items) => new Set(items.map((item) => JSON.stringify(item))).size === items.length,
        )
      : null,
  keywords: (isOn) => (isOn ? { type: "array", uniqueItems: true } : anything),
};
