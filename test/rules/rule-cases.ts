/**
 * For each rule of `fieldValidation`, a valid and an invalid value. The table does not compile if a rule is missing.
 * `field-rules.test.ts` runs the cases on the compiled rules, `contract/rules.test.ts` on the whole service.
 */
import type { FieldRule, RuleName } from "../../core/rules/rule-definition.ts";
import type { Json } from "../../core/values/json.ts";

/** A column of the table that the rules are tried on: its name is that of the type. */
export type CaseColumn = "text" | "integer" | "decimal" | "date" | "json";

export interface RuleCase {
  readonly column: CaseColumn;
  /** The rule, and others that it needs. */
  readonly rules: Omit<FieldRule, "name" | "type" | "messages">;
  /** What a create sends (nothing where it is undefined), and what is stored, as answers show it. */
  readonly taken: { readonly sent?: Json; readonly shown: Json };
  /** Null: the rule refuses nothing. */
  readonly refused: { readonly sent: Json; readonly message: string } | null;
  /** Whether the field's JSON Schema expresses the rule. */
  readonly isInSchema: boolean;
}

export const ruleCases: Readonly<Record<RuleName, RuleCase>> = {
  required: {
    column: "text",
    rules: { required: true },
    taken: { sent: "a", shown: "a" },
    refused: { sent: "", message: "is required" },
    isInSchema: true,
  },
  nullable: {
    column: "text",
    rules: { nullable: false },
    taken: { sent: "", shown: "" },
    refused: { sent: null, message: "must not be null" },
    isInSchema: true,
  },
  default: {
    column: "text",
    rules: { default: "n/a" },
    taken: { shown: "n/a" },
    refused: null,
    isInSchema: true,
  },
  unique: {
    column: "text",
    rules: { unique: true },
    taken: { sent: "a", shown: "a" },
    refused: null,
    isInSchema: false,
  },
  minLength: {
    column: "text",
    rules: { minLength: 2 },
    taken: { sent: "ab", shown: "ab" },
    refused: { sent: "𝄞", message: "must have at least 2 characters" },
    isInSchema: true,
  },
  maxLength: {
    column: "text",
    rules: { maxLength: 2 },
    taken: { sent: "𝄞𝄞", shown: "𝄞𝄞" },
    refused: { sent: "abc", message: "must have at most 2 characters" },
    isInSchema: true,
  },
  pattern: {
    column: "text",
    rules: { pattern: "^[A-Z]{2}$" },
    taken: { sent: "AB", shown: "AB" },
    refused: { sent: "ab", message: "does not have the right form" },
    isInSchema: true,
  },
  format: {
    column: "text",
    rules: { format: "email" },
    taken: { sent: "ann@example.org", shown: "ann@example.org" },
    refused: { sent: "ann", message: "must be an e-mail address" },
    isInSchema: true,
  },
  enum: {
    column: "integer",
    rules: { enum: [1, 2] },
    taken: { sent: 2, shown: 2 },
    refused: { sent: 3, message: "must be one of: 1, 2" },
    isInSchema: true,
  },
  trim: {
    column: "text",
    rules: { trim: true },
    taken: { sent: " a b ", shown: "a b" },
    refused: null,
    isInSchema: false,
  },
  lowercase: {
    column: "text",
    rules: { lowercase: true },
    taken: { sent: "AB", shown: "ab" },
    refused: null,
    isInSchema: false,
  },
  uppercase: {
    column: "text",
    rules: { uppercase: true },
    taken: { sent: "ab", shown: "AB" },
    refused: null,
    isInSchema: false,
  },
  min: {
    column: "decimal",
    rules: { min: 0.5 },
    taken: { sent: 0.5, shown: 0.5 },
    refused: { sent: 0.4, message: "must be at least 0.5" },
    isInSchema: true,
  },
  max: {
    column: "decimal",
    rules: { max: "0.5" },
    taken: { sent: 0.5, shown: 0.5 },
    refused: { sent: 0.6, message: "must be at most 0.5" },
    isInSchema: true,
  },
  positive: {
    column: "integer",
    rules: { positive: true },
    taken: { sent: 1, shown: 1 },
    refused: { sent: 0, message: "must be greater than 0" },
    isInSchema: true,
  },
  negative: {
    column: "integer",
    rules: { negative: true },
    taken: { sent: -1, shown: -1 },
    refused: { sent: 0, message: "must be less than 0" },
    isInSchema: true,
  },
  integer: {
    column: "decimal",
    rules: { integer: true },
    taken: { sent: 2, shown: 2 },
    refused: { sent: 2.5, message: "must be a whole number" },
    isInSchema: true,
  },
  scale: {
    column: "decimal",
    rules: { scale: 1 },
    taken: { sent: 0.5, shown: 0.5 },
    refused: { sent: 0.25, message: "must have at most 1 digits after the decimal point" },
    isInSchema: false,
  },
  precision: {
    column: "decimal",
    rules: { precision: 3, scale: 1 },
    taken: { sent: 99.5, shown: 99.5 },
    refused: { sent: 100, message: "must have at most 2 digits before the decimal point" },
    isInSchema: true,
  },
  before: {
    column: "date",
    rules: { before: "2026-01-01" },
    taken: { sent: "2025-12-31", shown: "2025-12-31" },
    refused: { sent: "2026-01-01", message: "must be before 2026-01-01" },
    isInSchema: false,
  },
  after: {
    column: "date",
    rules: { after: "2026-01-01" },
    taken: { sent: "2026-01-02", shown: "2026-01-02" },
    refused: { sent: "2026-01-01", message: "must be after 2026-01-01" },
    isInSchema: false,
  },
  minItems: {
    column: "json",
    rules: { minItems: 1 },
    taken: { sent: [1], shown: [1] },
    refused: { sent: [], message: "must have at least 1 items" },
    isInSchema: true,
  },
  maxItems: {
    column: "json",
    rules: { maxItems: 1 },
    taken: { sent: [1], shown: [1] },
    refused: { sent: [1, 2], message: "must have at most 1 items" },
    isInSchema: true,
  },
  uniqueItems: {
    column: "json",
    rules: { uniqueItems: true },
    taken: { sent: [1, 2], shown: [1, 2] },
    refused: {
      sent: [
        { a: 1, b: [2] },
        { b: [2], a: 1 },
      ],
      message: "must not hold an item twice",
    },
    isInSchema: true,
  },
  strict: {
    column: "integer",
    rules: { strict: true },
    taken: { sent: 5, shown: 5 },
    refused: { sent: "5", message: "must be a number, not a text" },
    isInSchema: true,
  },
};
