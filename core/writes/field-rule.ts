/**
 * One entry of `fieldValidation` in its normal form, and what can be wrong with it. `core/config/` brings both spellings of
 * the files into this form and reports the faults at start; `core/writes/rules.ts` then compiles rules that have none.
 */
import { compareDecimals, normalDecimal } from "../decimal.ts";
import type { ColumnType } from "../column.ts";
import { momentOf, readTimestamp } from "../values/formats.ts";
import type { Json } from "../json.ts";

/** The column type that a rule's `type` is checked as, whatever the column itself is. */
export const columnTypeOf = {
  string: "text",
  text: "text",
  integer: "integer",
  decimal: "decimal",
  number: "decimal",
  boolean: "boolean",
  date: "date",
  datetime: "timestamp",
  timestamp: "timestamp",
  time: "time",
  uuid: "uuid",
  json: "json",
  array: "array",
} as const satisfies Record<string, ColumnType>;

export type RuleType = keyof typeof columnTypeOf;

export type RuleFormat = "email" | "phone" | "url" | "uuid";

/** What `<constraint>Message` may name. */
export type ConstraintName =
  | "required"
  | "nullable"
  | "type"
  | "strict"
  | "minLength"
  | "maxLength"
  | "pattern"
  | "enum"
  | "format"
  | "min"
  | "max"
  | "positive"
  | "negative"
  | "integer"
  | "precision"
  | "scale"
  | "before"
  | "after"
  | "minItems"
  | "maxItems"
  | "uniqueItems";

/** The rule of one field. An absent constraint asks for nothing; a flag that is false neither, except `nullable`. */
export interface FieldRule {
  readonly name: string;
  /** Absent: the column's own type. */
  readonly type?: RuleType;
  /** Present, not null and not the empty text; on update only if sent. */
  readonly required?: boolean;
  /** False: null is refused although the column would take it. */
  readonly nullable?: boolean;
  /** Stands in for a field that a create leaves out. */
  readonly default?: unknown;
  readonly trim?: boolean;
  readonly lowercase?: boolean;
  readonly uppercase?: boolean;
  /** No coercion: `"5"` is no number, 5 no text, 1 no boolean. */
  readonly strict?: boolean;
  /** Characters (code points). */
  readonly minLength?: number;
  readonly maxLength?: number;
  /** A JavaScript expression that matches anywhere in the text. */
  readonly pattern?: string;
  readonly enum?: readonly Json[];
  readonly format?: RuleFormat;
  /** A number, or a date or time for those types. */
  readonly min?: number | string;
  readonly max?: number | string;
  readonly positive?: boolean;
  readonly negative?: boolean;
  readonly integer?: boolean;
  /** Digits in all. */
  readonly precision?: number;
  /** Digits behind the point. */
  readonly scale?: number;
  /** Another field, a date, or `now`. */
  readonly before?: string;
  readonly after?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  /** The configuration's own messages, by constraint. */
  readonly messages?: Readonly<Partial<Record<ConstraintName, string>>>;
}

export interface RuleFault {
  /** The member of the rule. */
  readonly path: keyof FieldRule;
  readonly message: string;
}

/** What keeps a rule from being compiled or from ever holding; `fields` are the names that before and after may use. */
export function fieldRuleFaults(
  rule: FieldRule,
  fields: { has(name: string): boolean },
): RuleFault[] {
  const faults: RuleFault[] = [];
  const add = (path: keyof FieldRule, message: string): void => void faults.push({ path, message });
  if (rule.pattern !== undefined && readPattern(rule.pattern) === null)
    add("pattern", "is not a regular expression");
  for (const path of ["min", "max"] as const) {
    if (rule[path] !== undefined && readBound(rule, path) === null)
      add(path, `must be ${boundName(rule)}`);
  }
  for (const path of ["before", "after"] as const) {
    const bound = rule[path];
    if (bound === undefined || bound === "now" || fields.has(bound) || momentOf(bound) !== null)
      continue;
    add(path, "must be the name of a field, a date or `now`");
  }
  if (rule.enum?.length === 0) add("enum", "must list at least one value");
  if (rule.positive === true && rule.negative === true) add("negative", "contradicts `positive`");
  if (rule.lowercase === true && rule.uppercase === true)
    add("uppercase", "contradicts `lowercase`");
  if (isAbove(rule.minLength, rule.maxLength)) add("maxLength", "is less than `minLength`");
  if (isAbove(rule.minItems, rule.maxItems)) add("maxItems", "is less than `minItems`");
  if (isAbove(rule.scale, rule.precision)) add("scale", "is more than `precision`");
  if (isEmptyRange(rule)) add("max", "is less than `min`");
  return faults;
}

/** The expression, with Unicode matching where it allows that; null when it is none. */
export function readPattern(source: string): RegExp | null {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(source, flags);
    } catch {
      // Many patterns that people bring along hold escapes that only the older syntax takes.
    }
  }
  return null;
}

/** `min` or `max` as canonical digits, or as a text that sorts by time; null when it is not of the rule's type. */
export function readBound(rule: FieldRule, path: "min" | "max"): string | null {
  const bound = rule[path];
  if (bound === undefined) return null;
  const type = rule.type === undefined ? null : columnTypeOf[rule.type];
  const moment = momentOf(bound);
  if (type === "time") return moment?.length === 8 ? moment : null;
  if (type === "date" || type === "timestamp") return readTimestamp(String(bound))?.iso ?? null;
  return normalDecimal(String(bound)) ?? (type === null ? moment : null);
}

function boundName({ type }: FieldRule): string {
  if (type === "date" || type === "datetime" || type === "timestamp") return "a date";
  return type === "time" ? "a time" : type === undefined ? "a number, date or time" : "a number";
}

const isAbove = (low: number | undefined, high: number | undefined): boolean =>
  low !== undefined && high !== undefined && low > high;

function isEmptyRange(rule: FieldRule): boolean {
  const min = readBound(rule, "min");
  const max = readBound(rule, "max");
  if (min === null || max === null) return false;
  const [isMinMoment, isMaxMoment] = [momentOf(min) !== null, momentOf(max) !== null];
  if (isMinMoment !== isMaxMoment) return true;
  return isMinMoment ? min > max : compareDecimals(min, max) > 0;
}
