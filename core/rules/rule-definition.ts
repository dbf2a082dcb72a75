/**
 * Everything about a rule of `fieldValidation`. Each is one object of this form (`field-rules.ts` has them all), from
 * which follow the schema of the configuration files, the check at start, the check of bodies, and the JSON Schema of
 * the field.
 */
import type { z } from "zod";
import type { Column, ColumnType } from "../values/types/column.ts";
import { anything, type JsonSchema } from "../values/json-schema.ts";
import type { DateForm } from "./date-form.ts";
import type { Json } from "../values/json.ts";
import type { Scalar } from "../values/scalar.ts";

export type RuleFormat = "email" | "phone" | "url" | "uuid";

/** Every rule by its name in the configuration, with the value that it has there. */
export interface RuleValues {
  /** Present, not null and not the empty text; on update only if sent. */
  required: boolean;
  /** False: null is refused although the column accepts it. */
  nullable: boolean;
  /** The default of a field that a create leaves out. */
  default: unknown;
  /** A description for readers. */
  unique: boolean;
  /** Characters (code points). */
  minLength: number;
  maxLength: number;
  /** A JavaScript expression that matches anywhere in the text. */
  pattern: string;
  format: RuleFormat;
  enum: readonly Json[];
  trim: boolean;
  lowercase: boolean;
  uppercase: boolean;
  /** A number, or a date or time for those types. */
  min: number | string;
  max: number | string;
  positive: boolean;
  negative: boolean;
  integer: boolean;
  /** Digits after the decimal point. */
  scale: number;
  /** Digits in all. */
  precision: number;
  /** Another field, a date, or `now`. */
  before: string;
  after: string;
  minItems: number;
  maxItems: number;
  uniqueItems: boolean;
  /** No coercion: `"5"` is not a number, 5 not a text, 1 not a boolean. */
  strict: boolean;
}

export type RuleName = keyof RuleValues;

/** Names allowed in `<name>Message`: `type` is the conversion to the type of the rule. */
export type MessageName = "type" | RuleName;

/** The rules of one field. An absent rule requires nothing. */
export interface FieldRule extends Readonly<Partial<RuleValues>> {
  readonly name: string;
  /** The type of the field's values; absent: the column's own type. */
  readonly type?: ColumnType;
  /** A date format that the field accepts besides ISO 8601. */
  readonly dateForm?: DateForm;
  /** The configuration's own messages. */
  readonly messages?: Readonly<Partial<Record<MessageName, string>>>;
}

/** What a rule uses besides its own value. */
export interface RuleContext {
  /** All rules of the field. */
  readonly rule: FieldRule;
  /** A column without limits, of the type that the field is checked as. */
  readonly bare: Column;
}

/** What a rule does to a field, in the order of the steps. Messages are shown for the field. */
export type Effect =
  /** The value of a field that a create leaves out. */
  | { readonly step: "default"; readonly value: unknown }
  /** Changes a text before anything else checks it. */
  | { readonly step: "transform"; readonly change: (text: string) => string }
  /** Whether a value may be missing (null, empty). `isNeeded`: a create must contain one. */
  | {
      readonly step: "presence";
      readonly isNeeded: boolean;
      readonly message: string;
      readonly refuses: (value: null | "") => boolean;
    }
  /**
   * Checks the value as it was sent: returns the fault, or null. `message`: what it requires of a value of its type.
   */
  | {
      readonly step: "form";
      readonly message: string;
      readonly fault: (sent: unknown) => string | null;
    }
  /** Checks the value in the form of its type (never null), and as it was sent. `message`: as above. */
  | {
      readonly step: "test";
      readonly message: string;
      readonly fault: (typed: Scalar, sent: unknown) => string | null;
    }
  /**
   * Compares fields: `bound` names another one, or is a date or `now`. Both sides are texts that sort by time, and a
   * field without a value is not compared.
   */
  | {
      readonly step: "comparison";
      readonly bound: string;
      readonly message: string;
      /** Gets a number below or above 0, as the value is before or after the bound. */
      readonly holds: (side: number) => boolean;
    };

export interface RuleDefinition<Value> {
  /** How it is written in the configuration, and what it means. */
  readonly schema: z.ZodType<Value>;
  /** Whether `<name>Message` is allowed beside it. */
  readonly hasMessage: boolean;
  /** Whether its value may be the name of another field. */
  readonly namesField: boolean;
  /** What is wrong with the value, beyond its schema, following "it". `fields`: the existing names. Null = valid. */
  readonly fault: (
    value: Value,
    rule: FieldRule,
    fields: { has(name: string): boolean },
  ) => string | null;
  /** Null = none, as for a flag that is false. */
  readonly effect: (value: Value, context: RuleContext) => Effect | null;
  /** The keywords that describe the rule to a client, as far as JSON Schema has any. */
  readonly keywords: (value: Value, context: RuleContext) => JsonSchema;
}

/** One for each rule: for the file that has them all. */
export type RuleDefinitions = { readonly [Name in RuleName]: RuleDefinition<RuleValues[Name]> };

/** `keywords` of rules that JSON Schema cannot express. */
export const noKeywords = (): JsonSchema => anything;

/**
 * A rule with what most rules have: a message, a value that is no field's name, no faults beyond its schema, and no
 * keywords.
 */
export const defineRule = <Value>(
  rule: Pick<RuleDefinition<Value>, "schema" | "effect"> & Partial<RuleDefinition<Value>>,
): RuleDefinition<Value> => ({
  hasMessage: true,
  namesField: false,
  fault: () => null,
  keywords: noKeywords,
  ...rule,
});

/** Whether two bounds of a range leave nothing between them. */
export const isAbove = (low: number | undefined, high: number | undefined): boolean =>
  low !== undefined && high !== undefined && low > high;
