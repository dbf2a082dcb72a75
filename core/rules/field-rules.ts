/**
 * Every rule of `fieldValidation`. A new one is its value in `RuleValues`, an object, and a line here: the schema of the
 * files, the check at start, the check of bodies and the JSON Schema of fields follow. Tests run in this order, and so do the messages.
 */
import { anything, type JsonSchema } from "../values/json-schema.ts";
import { max, min } from "./bound-rules.ts";
import { maxItems, minItems, uniqueItems } from "./item-rules.ts";
import { integer, negative, positive, precision, scale } from "./number-rules.ts";
import { after, before } from "./order-rules.ts";
import type {
  Effect,
  FieldRule,
  RuleContext,
  RuleDefinitions,
  RuleName,
  RuleValues,
} from "./rule-definition.ts";
import { format, lowercase, maxLength, minLength, pattern, trim, uppercase } from "./text-rules.ts";
import { nullable, oneOf, required, standIn, strict, unique } from "./value-rules.ts";

export const fieldRules: RuleDefinitions = {
  required,
  nullable,
  default: standIn,
  unique,
  minLength,
  maxLength,
  pattern,
  format,
  enum: oneOf,
  trim,
  lowercase,
  uppercase,
  min,
  max,
  positive,
  negative,
  integer,
  scale,
  precision,
  before,
  after,
  minItems,
  maxItems,
  uniqueItems,
  strict,
};

export const isRuleName = (name: string): name is RuleName => Object.hasOwn(fieldRules, name);

export const ruleNames: readonly RuleName[] = Object.keys(fieldRules).filter(isRuleName);

/** What the rule does to the field; null = nothing. */
export function effectOf<Name extends RuleName>(name: Name, context: RuleContext): Effect | null {
  const value = valueOf(context.rule, name);
  return value === undefined ? null : fieldRules[name].effect(value, context);
}

/** What the rule adds to the JSON Schema of the field. */
export function keywordsOf<Name extends RuleName>(name: Name, context: RuleContext): JsonSchema {
  const value = valueOf(context.rule, name);
  return value === undefined ? anything : fieldRules[name].keywords(value, context);
}

function valueOf<Name extends RuleName>(
  rule: { readonly [Each in RuleName]?: RuleValues[Each] },
  name: Name,
): RuleValues[Name] | undefined {
  return rule[name];
}

export interface RuleFault {
  readonly rule: RuleName;
  /** Goes behind "it". */
  readonly message: string;
}

/** What keeps the rules of a field from being compiled, or from ever holding; `fields` are the names that there are. */
export function ruleFaults(rule: FieldRule, fields: { has(name: string): boolean }): RuleFault[] {
  return ruleNames.flatMap((name) => {
    const message = faultOf(name, rule, fields);
    return message === null ? [] : { rule: name, message };
  });
}

function faultOf<Name extends RuleName>(
  name: Name,
  rule: FieldRule,
  fields: { has(name: string): boolean },
): string | null {
  const value = valueOf(rule, name);
  return value === undefined ? null : fieldRules[name].fault(value, rule, fields);
}
