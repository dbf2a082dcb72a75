/**
 * Every rule of `fieldValidation`. A new one is its value in `RuleValues`, an object, and a line here: the schema of
 * the files, the check at start, the check of bodies and the JSON Schema of fields follow from them. Rules are tested
 * in this order, and the messages have the same order.
 */
import { anything, type JsonSchema } from "../values/json-schema.ts";
import { max, min, after, before } from "./bound-rules.ts";
import {
  maxItems,
  minItems,
  nullable,
  oneOf,
  required,
  standIn,
  strict,
  unique,
  uniqueItems,
} from "./value-rules.ts";
import { integer, negative, positive, precision, scale } from "./number-rules.ts";
import type {
  Effect,
  FieldRule,
  RuleContext,
  RuleDefinitions,
  RuleName,
  RuleValues,
} from "./rule-definition.ts";
import { format, lowercase, maxLength, minLength, pattern, trim, uppercase } from "./text-rules.ts";

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

/** The effect of the rule on the field; null = none. */
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
  /** Follows "it". */
  readonly message: string;
}

/** Why the rules of a field cannot be compiled, or can never hold; `fields` are the existing names. */
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
