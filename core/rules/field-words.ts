/**
 * A field described for a person who fills in a spreadsheet: what its type and its rules accept, in the same words that
 * the error messages use.
 */
import type { Column } from "../values/types/column.ts";
import type { Json } from "../values/json.ts";
import { columnTypes } from "../values/types/column-types.ts";
import type { CellForm } from "../values/types/type-definition.ts";
import { effectsOf, type NamedEffect, prepareField } from "./field.ts";
import { fieldRules } from "./field-rules.ts";
import type { FieldRule, RuleContext, RuleName } from "./rule-definition.ts";

export interface FieldWords {
  readonly form: CellForm;
  /** Sentences, one for each rule that adds something to the type. */
  readonly asks: readonly string[];
  /** A new record must have a value, and there is no default. */
  readonly isNeeded: boolean;
  /** The default of a value that is left out; undefined = none. */
  readonly default: unknown;
  /** The only values; null = the field is not limited to a list. */
  readonly allowed: readonly Json[] | null;
}

export function fieldWords(column: Column, rule: FieldRule | undefined): FieldWords {
  const field = prepareField(column, rule);
  const { bare } = field;
  const asked = bare.type === column.type ? column : bare;
  // The cells contain values of the column, even if the rule converts them.
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

/** The column itself requires the same. */
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

/** A message follows the name of its field. */
const sentenceOf = (message: string): string =>
  message.slice(0, 1).toUpperCase() + message.slice(1) + (/[.!?]$/.test(message) ? "" : ".");
