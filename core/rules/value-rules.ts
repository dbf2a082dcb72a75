/** Rules for fields of every type: whether there is a value, which ones, and in which form. */
import { z } from "zod";
import { anything } from "../values/json-schema.ts";
import type { Json } from "../values/json.ts";
import type { Scalar } from "../values/scalar.ts";
import { accept } from "../values/accept.ts";
import { columnTypes } from "../values/column-types.ts";
import {
  type Effect,
  noFault,
  noKeywords,
  type RuleContext,
  type RuleDefinition,
} from "./rule-definition.ts";

export const required: RuleDefinition<boolean> = {
  schema: z
    .boolean()
    .describe("The field must be sent with a value; on update: it cannot be emptied."),
  hasMessage: true,
  namesField: false,
  fault: noFault,
  effect: (isRequired) =>
    isRequired
      ? {
          step: "presence",
          isNeeded: true,
          message: "is required",
          refuses: () => true,
        }
      : null,
  // That null is refused is said by the schema of the field.
  keywords(isRequired, { rule, bare }) {
    if (!isRequired || !columnTypes[bare.type].isText) return anything;
    // What is nothing but blanks is empty once they are cut off.
    return rule.trim === true ? { minLength: 1, pattern: "\\S" } : { minLength: 1 };
  },
};

export const nullable: RuleDefinition<boolean> = {
  schema: z.boolean().describe("false: null is refused."),
  hasMessage: true,
  namesField: false,
  fault: noFault,
  effect: (isNullable) =>
    isNullable
      ? null
      : {
          step: "presence",
          isNeeded: false,
          message: "must not be null",
          refuses: (value) => value === null,
        },
  keywords: noKeywords,
};

export const standIn: RuleDefinition<unknown> = {
  schema: z.unknown().describe("Taken on create when the field is not sent."),
  hasMessage: false,
  namesField: false,
  fault: noFault,
  effect: (value) => ({ step: "default", value }),
  keywords: (value) => (isPlain(value) ? { default: value } : anything),
};

const isPlain = (value: unknown): value is string | number | boolean | null =>
  value === null || ["string", "number", "boolean"].includes(typeof value);

export const unique: RuleDefinition<boolean> = {
  schema: z.boolean().describe("For readers: the database's own unique constraint decides."),
  hasMessage: true,
  namesField: false,
  fault: noFault,
  effect: () => null,
  keywords: noKeywords,
};

export const oneOf: RuleDefinition<readonly Json[]> = {
  schema: z
    .array(z.union([z.string(), z.number(), z.boolean(), z.null()]))
    .min(1)
    .describe("The only values."),
  hasMessage: true,
  namesField: false,
  fault: (members) => (members.length === 0 ? "must list at least one value" : null),
  effect: membership,
  keywords: (members) => ({ enum: members }),
};

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

export const strict: RuleDefinition<boolean> = {
  schema: z.boolean().describe("No conversion: a number as text, for one, is refused."),
  hasMessage: true,
  namesField: false,
  fault: noFault,
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
};
