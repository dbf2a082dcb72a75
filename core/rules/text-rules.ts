/** Rules for texts. A value of any other type is checked as its text. */
import { z } from "zod";
import { anything } from "../values/json-schema.ts";
import { limits } from "../values/limits.ts";
import { characterCount, isLonger } from "../values/text.ts";
import { isPatternWith, readLinearPattern } from "./linear-pattern.ts";
import {
  defineRule,
  type Effect,
  isAbove,
  type RuleDefinition,
  type RuleFormat,
} from "./rule-definition.ts";

const testOf = (message: string, holds: (text: string) => boolean): Effect => ({
  step: "test",
  message,
  fault: (typed) => (holds(String(typed)) ? null : message),
});

export const minLength = defineRule<number>({
  schema: z.int().min(0).describe("Fewest characters."),
  effect: (min) =>
    testOf(`must have at least ${min} characters`, (text) => characterCount(text) >= min),
  keywords: (min) => ({ minLength: min }),
});

export const maxLength = defineRule<number>({
  schema: z.int().min(0).describe("Most characters."),
  fault: (max, rule) => (isAbove(rule.minLength, max) ? "is less than `minLength`" : null),
  effect: (max) => testOf(`must have at most ${max} characters`, (text) => !isLonger(text, max)),
  keywords: (max) => ({ maxLength: max }),
});

export const pattern = defineRule<string>({
  schema: z.string().min(1).describe("Regular expression that the text must match."),
  fault(source) {
    const read = readLinearPattern(source);
    return typeof read === "string" ? read : null;
  },
  effect(source) {
    const expression = readLinearPattern(source);
    if (typeof expression === "string") return null;
    return testOf(
      "does not have the right form",
      (text) => text.length <= limits.testedTextLengthMax && expression.test(text),
    );
  },
  // JSON Schema has only expressions with Unicode matching.
  keywords: (source) => (isPatternWith(source, "u") ? { pattern: source } : anything),
});

interface Format {
  readonly holds: (text: string) => boolean;
  readonly message: string;
  /** Its name in JSON Schema; null = none. */
  readonly name: string | null;
  readonly example: string;
}

const phoneText = /^\+?[ ()./-]{0,2}\d(?:[ ()./-]{0,3}\d){4,14}$/;

const formats: Readonly<Record<RuleFormat, Format>> = {
  email: {
    holds: matches(z.email()),
    message: "must be an e-mail address",
    name: "email",
    example: "name@example.com",
  },
  phone: {
    holds: (text) => phoneText.test(text),
    message: "must be a phone number",
    name: null,
    example: "+43 1 2345678",
  },
  // Zod accepts blanks around the address, which would then be stored.
  url: {
    holds: (text) => text === text.trim() && matches(z.url({ protocol: /^https?$/ }))(text),
    message: "must be a web address (http or https)",
    name: "uri",
    example: "https://example.com/",
  },
  uuid: {
    holds: matches(z.guid()),
    message: "must be a UUID",
    name: "uuid",
    example: "0b7e6c1a-52d4-4f8e-9a37-6d1c8f20e4b5",
  },
};

function matches(schema: z.ZodType): (text: string) => boolean {
  return (text) => schema.safeParse(text).success;
}

export const format = defineRule<RuleFormat>({
  schema: z.enum(["email", "phone", "url", "uuid"]).describe("What the text must be."),
  effect(name) {
    const { holds, message } = formats[name];
    return testOf(message, (text) => text.length <= limits.testedTextLengthMax && holds(text));
  },
  keywords(name) {
    const { name: known, example } = formats[name];
    // A phone number may also come as a number.
    return known === null ? { examples: [example] } : { type: "string", format: known };
  },
});

/** A text is stored in another form. */
const changing = (change: (text: string) => string, words: string) =>
  defineRule<boolean>({
    schema: z.boolean().describe(words),
    hasMessage: false,
    effect: (isOn) => (isOn ? { step: "transform", change } : null),
  });

export const trim = changing(
  (text) => text.trim(),
  "Blanks around the text are cut off before anything is checked.",
);

export const lowercase = changing(
  (text) => text.toLowerCase(),
  "The text is stored in lower case.",
);

export const uppercase: RuleDefinition<boolean> = {
  ...changing((text) => text.toUpperCase(), "The text is stored in upper case."),
  fault: (isOn, rule) => (isOn && rule.lowercase === true ? "contradicts `lowercase`" : null),
};
