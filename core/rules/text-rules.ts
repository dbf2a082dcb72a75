/** Rules for texts. They look at a value of any other type as its text. */
import { z } from "zod";
import { anything } from "../values/json-schema.ts";
import { limits } from "../values/limits.ts";
import { characterCount, isLonger } from "../values/text.ts";
import { isPatternWith, readLinearPattern } from "./linear-pattern.ts";
import {
  type Effect,
  isAbove,
  noFault,
  noKeywords,
  type RuleDefinition,
  type RuleFormat,
} from "./rule-definition.ts";

const testOf = (message: string, holds: (text: string) => boolean): Effect => ({
  step: "test",
  message,
  fault: (typed) => (holds(String(typed)) ? null : message),
});

export const minLength: RuleDefinition<number> = {
  schema: z.int().min(0).describe("Fewest characters."),
  hasMessage: true,
  namesField: false,
  fault: noFault,
  effect: (min) =>
    testOf(`must have at least ${min} characters`, (text) => characterCount(text) >= min),
  keywords: (min) => ({ minLength: min }),
};

export const maxLength: RuleDefinition<number> = {
  schema: z.int().min(0).describe("Most characters."),
  hasMessage: true,
  namesField: false,
  fault: (max, rule) => (isAbove(rule.minLength, max) ? "is less than `minLength`" : null),
  effect: (max) => testOf(`must have at most ${max} characters`, (text) => !isLonger(text, max)),
  keywords: (max) => ({ maxLength: max }),
};

export const pattern: RuleDefinition<string> = {
  schema: z.string().min(1).describe("Regular expression that the text must match."),
  hasMessage: true,
  namesField: false,
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
  // JSON Schema knows expressions with Unicode matching alone.
  keywords: (source) => (isPatternWith(source, "u") ? { pattern: source } : anything),
};

interface Format {
  readonly holds: (text: string) => boolean;
  readonly message: string;
  /** Its name in JSON Schema; null where it has none. */
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
  // Zod reads past blanks around the address, which would then be stored.
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

export const format: RuleDefinition<RuleFormat> = {
  schema: z.enum(["email", "phone", "url", "uuid"]).describe("What the text must be."),
  hasMessage: true,
  namesField: false,
  fault: noFault,
  effect(name) {
    const { holds, message } = formats[name];
    return testOf(message, (text) => text.length <= limits.testedTextLengthMax && holds(text));
  },
  keywords(name) {
    const { name: known, example } = formats[name];
    // A phone number may also come as a number.
    return known === null ? { examples: [example] } : { type: "string", format: known };
  },
};

export const trim: RuleDefinition<boolean> = {
  schema: z.boolean().describe("Blanks around the text are cut off before anything is checked."),
  hasMessage: false,
  namesField: false,
  fault: noFault,
  effect: (isOn) => (isOn ? { step: "transform", change: (text) => text.trim() } : null),
  keywords: noKeywords,
};

export const lowercase: RuleDefinition<boolean> = {
  schema: z.boolean().describe("The text is stored in lower case."),
  hasMessage: false,
  namesField: false,
  fault: noFault,
  effect: (isOn) => (isOn ? { step: "transform", change: (text) => text.toLowerCase() } : null),
  keywords: noKeywords,
};

export const uppercase: RuleDefinition<boolean> = {
  schema: z.boolean().describe("The text is stored in upper case."),
  hasMessage: false,
  namesField: false,
  fault: (isOn, rule) => (isOn && rule.lowercase === true ? "contradicts `lowercase`" : null),
  effect: (isOn) => (isOn ? { step: "transform", change: (text) => text.toUpperCase() } : null),
  keywords: noKeywords,
};
