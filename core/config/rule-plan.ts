/**
 * fieldValidation -> the rules that `core/writes/rules.ts` runs, and what they tell of columns that the database itself
 * leaves open: how many decimals a number keeps, whether a loosely stored column holds decimals or booleans.
 */
import { columnTypeOf, fieldRuleFaults, type FieldRule } from "../writes/field-rule.ts";
import type { Column, Columns } from "../column.ts";
import { didYouMean } from "./did-you-mean.ts";
import type { Path } from "./faults.ts";
import { constraintNames, type Rule } from "./rule-schema.ts";
import type { Survey } from "./survey.ts";

/** The rules in the form that they are compiled from; every fault of every rule goes to the survey. */
export function readRules(
  survey: Survey,
  written: readonly Rule[],
  columns: Columns,
  path: Path,
  of: string,
): FieldRule[] {
  const seen = new Set<string>();
  return written.map((one, index) => {
    const at = [...path, index];
    const rule = toFieldRule(one);
    survey.column(rule.name, columns, [...at, "name"], of);
    if (seen.has(rule.name)) survey.fault([...at, "name"], { expected: "one rule for each field" });
    seen.add(rule.name);
    for (const fault of fieldRuleFaults(rule, columns)) {
      const value = rule[fault.path];
      const isName =
        (fault.path === "before" || fault.path === "after") && typeof value === "string";
      survey.fault([...at, "constraints", fault.path], {
        expected: `another value: it ${fault.message}`,
        hint: isName ? didYouMean(value, columns.keys()) : undefined,
      });
    }
    return rule;
  });
}

function toFieldRule({ name, type, constraints }: Rule): FieldRule {
  const rule: Record<string, unknown> = { name };
  if (type !== undefined) rule["type"] = type;
  const messages: Record<string, string> = {};
  for (const [key, value] of Object.entries(constraints)) {
    if (constraintNames.includes(key)) rule[key] = value;
    else messages[key.slice(0, -"Message".length)] = value as string;
  }
  if (Object.keys(messages).length > 0) rule["messages"] = messages;
  return rule as unknown as FieldRule;
}

/** The columns, each with what its rule tells beyond the database. */
export function refineColumns(columns: Columns, rules: readonly FieldRule[]): Columns {
  const byName = new Map(rules.map((rule) => [rule.name, rule]));
  return new Map([...columns].map(([name, column]) => [name, refine(column, byName.get(name))]));
}

/** Decimal digits that a double keeps, whatever they are. */
const doubleDigits = 15;

function refine(column: Column, rule: FieldRule | undefined): Column {
  if (!rule) return column;
  const asked = rule.type === undefined ? column.type : columnTypeOf[rule.type];
  const isTyped = asked !== column.type && column.ruleTypes?.includes(asked) === true;
  // The declared type goes on saying how the engine stores the value; only what the service makes of it changes.
  if (isTyped && asked === "boolean") return { ...column, type: asked, range: null };
  if (isTyped) {
    return {
      ...column,
      type: asked,
      lengthMax: null,
      bytesMax: null,
      range: null,
      precision: column.type === "float" ? doubleDigits : null,
      scale: rule.scale ?? null,
    };
  }
  if (column.type !== "decimal" || column.scale !== null) return column;
  if (rule.scale === undefined && rule.precision === undefined) return column;
  return {
    ...column,
    scale: rule.scale ?? null,
    precision: column.precision ?? rule.precision ?? null,
  };
}
