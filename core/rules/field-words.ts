/**
 * A field in plain words, for a person who fills in a spreadsheet: what its type takes, and what its rules ask for, in the same words
 * in which they refuse.
 */
import type { Column } from "../values/column.ts";
import type { Json } from "../values/json.ts";
import { columnTypes } from "../values/column-types.ts";
import type { CellForm } from "../values/type-definition.ts";
import { effectsOf, type NamedEffect, prepareField } from "./field.ts";
import { fieldRules } from "./field-rules.ts";
import type { FieldRule, RuleContext, RuleName } from "./rule-definition.ts";

export interface FieldWords {
  readonly form: CellForm;
  /** Sentences, one for each rule that says more than the type. */
  readonly asks: readonly string[];
  /** A new record must bring a value, and nothing stands in for it. */
  readonly isNeeded: boolean;
  /** What stands in for a value that is left out; undefined = nothing. */
  readonly default: unknown;
  /** The only values; null = the field is not limited to a list. */
  readonly allowed: readonly Json[] | null;
}

export function fieldWords(column: Column, rule: FieldRule | undefined): FieldWords {
  const field = prepareField(column, rule);
  const { bare } = field;
  const asked = bare.type === column.type ? column : bare;
  // The cells are the column's own, whatever the rule makes of their values.
  const { format, width } = columnTypes[column.type].cellForm(column);
  const { words } = columnTypes[asked.type].cellForm(asked);
  return {
    form: { words, format, width },
    asks: rule === undefined ? [] : asksOf({ rule, bare }, asked),
    isNeeded: field.isNeeded && field.default === undefined,
    default: field.default,
    allowed: rule?.enum ?? column.labels,
  };
}

const asksOf = (context: RuleContext, column: Column): string[] =>
  effectsOf(context)
    .filter(({ name }) => !isImplied(name, context.rule, column))
    .flatMap((effect) => askOf(effect, context.rule));

/** The column itself asks for as much. */
function isImplied(name: RuleName, { maxLength, scale }: FieldRule, column: Column): boolean {
  const isAtLeast = (asked: number | undefined, own: number | null): boolean =>
    asked !== undefined && own !== null && asked >= own;
  if (name === "maxLength") return isAtLeast(maxLength, column.lengthMax);
  return name === "scale" && isAtLeast(scale, column.scale);
}

function askOf(effect: NamedEffect, rule: FieldRule): string[] {
  switch (effect.step) {
    case "transform":
      return [fieldRules[effect.name].schema.description ?? ""];
    case "form":
    case "test":
    case "comparison":
      return [sentenceOf(rule.messages?.[effect.name] ?? effect.message)];
    case "default":
    case "presence":
      return [];
  }
}

/** A message stands behind the name of its field. */
const sentenceOf = (message: string): string =>
  message.slice(0, 1).toUpperCase() + message.slice(1) + (/[.!?]$/.test(message) ? "" : ".");
