/** A column with the effects of its rules, sorted by the steps of the check. Made once per field of an entity. */
import type { Column } from "../values/types/column.ts";
import { effectOf, ruleNames } from "./field-rules.ts";
import type { Effect, FieldRule, RuleContext, RuleName } from "./rule-definition.ts";

/** An effect of one step, with the rule that it is of. */
type EffectOf<Step extends Effect["step"]> = Extract<NamedEffect, { step: Step }>;

export type NamedEffect = Effect & { readonly name: RuleName };

export interface Field {
  readonly column: Column;
  /** Null: only the column decides. */
  readonly rule: FieldRule | null;
  /** The column without limits, of the type that the rule names. */
  readonly bare: Column;
  /** A create must contain a value. */
  readonly isNeeded: boolean;
  /** The default of a value that a create leaves out; undefined = none. */
  readonly default: unknown;
  readonly transforms: readonly ((text: string) => string)[];
  readonly presences: readonly EffectOf<"presence">[];
  readonly forms: readonly EffectOf<"form">[];
  readonly tests: readonly EffectOf<"test">[];
  readonly comparisons: readonly EffectOf<"comparison">[];
}

export function prepareField(column: Column, rule: FieldRule | undefined): Field {
  const bare = bareColumn(column, rule);
  const effects = rule === undefined ? [] : effectsOf({ rule, bare });
  const of = <Step extends Effect["step"]>(step: Step) =>
    effects.filter((effect): effect is EffectOf<Step> => effect.step === step);
  const isFilled =
    column.nullable ||
    column.hasDefault ||
    column.generated !== "none" ||
    column.isFilledByTrigger === true;
  return {
    column,
    rule: rule ?? null,
    bare,
    isNeeded: !isFilled || of("presence").some(({ isNeeded }) => isNeeded),
    default: of("default")[0]?.value,
    transforms: [...of("transform").map(({ change }) => change), ...dateForms(rule, bare)],
    presences: of("presence"),
    forms: of("form"),
    tests: of("test"),
    comparisons: of("comparison"),
  };
}

const dateForms = (rule: FieldRule | undefined, { type }: Column) =>
  rule?.dateForm === undefined ? [] : [(text: string): string => rule.dateForm!(text, type)];

/** What the rules of a field do, in their order. */
export const effectsOf = (context: RuleContext): NamedEffect[] =>
  ruleNames.flatMap((name) => {
    const effect = effectOf(name, context);
    return effect === null ? [] : { ...effect, name };
  });

/** Limits are checked at the end, by the column itself. */
export const bareColumn = (column: Column, rule: FieldRule | undefined): Column => ({
  ...column,
  type: rule?.type ?? column.type,
  lengthMax: null,
  bytesMax: null,
  range: null,
  precision: null,
  scale: null,
  span: null,
  labels: null,
  fixedLength: false,
  fractionDigits: 6,
});
