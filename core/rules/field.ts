/** A column with what its rules do, sorted by the steps of the check. Made once for each field of an entity. */
import type { Column } from "../values/column.ts";
import { effectOf, ruleNames } from "./field-rules.ts";
import type { Effect, FieldRule, RuleContext, RuleName } from "./rule-definition.ts";

/** An effect of one step, with the rule that it is of. */
type EffectOf<Step extends Effect["step"]> = Extract<NamedEffect, { step: Step }>;

export type NamedEffect = Effect & { readonly name: RuleName };

export interface Field {
  readonly column: Column;
  /** Null: the column alone decides. */
  readonly rule: FieldRule | null;
  /** The column without limits, of the type that the rule asks for. */
  readonly bare: Column;
  /** A create must bring a value. */
  readonly isNeeded: boolean;
  /** What stands in for a value that a create leaves out; undefined = nothing. */
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

/** Limits are for the column itself to check, in the end. */
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
