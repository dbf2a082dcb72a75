/** The rule of `fieldValidation` that follows from a column. */
import type { Rule } from "../config/reading/rule-schema.ts";
import type { Column, ColumnType } from "../values/types/column.ts";
import type { CheckedColumn } from "./check-text.ts";

/** The name of the type in a rule; a type without one needs no rule. */
const ruleTypes: Readonly<Partial<Record<ColumnType, Rule["type"]>>> = {
  text: "string",
  integer: "integer",
  decimal: "decimal",
  boolean: "boolean",
  date: "date",
  timestamp: "datetime",
  time: "time",
  uuid: "uuid",
};

export interface DraftRule {
  readonly name: string;
  readonly type?: Rule["type"];
  readonly constraints?: Readonly<Record<string, unknown>>;
}

interface KnownOfColumn {
  /** What check constraints require of the column. */
  readonly checked?: CheckedColumn | undefined;
  /** Rows have an empty text in it. */
  readonly mayBeEmpty?: boolean;
}

/** Null if a rule would have no content. */
export function ruleOf(
  column: Column,
  { checked = {}, mayBeEmpty = false }: KnownOfColumn = {},
): DraftRule | null {
  // A rule of times would refuse durations, which such columns may hold.
  const type = column.isDuration ? undefined : ruleTypes[column.type];
  const isText = column.type === "text";
  const { min, max } = checked;
  const members = column.labels ?? (isText ? checked.enum : undefined);
  const isNumber = column.type === "integer" || column.type === "decimal";
  const constraints = {
    ...(isRequired(column) && !mayBeEmpty && { required: true }),
    ...(isText && !members && column.lengthMax !== null && { maxLength: column.lengthMax }),
    ...(members && { enum: [...members] }),
    ...(isNumber && min !== undefined && { min }),
    ...(isNumber && max !== undefined && { max }),
    ...(column.type === "decimal" &&
      column.scale !== null &&
      column.scale > 0 && { scale: column.scale }),
  };
  const hasConstraints = Object.keys(constraints).length > 0;
  if (type === undefined && !hasConstraints) return null;
  const isLong = isText && column.lengthMax === null && !members;
  return {
    name: column.name,
    ...(type !== undefined && { type: isLong ? "text" : type }),
    ...(hasConstraints && { constraints }),
  };
}

/** Whether only the body provides the column's value. */
export const isRequired = (column: Column): boolean =>
  !column.nullable &&
  !column.hasDefault &&
  column.generated === "none" &&
  column.isFilledByTrigger !== true;
