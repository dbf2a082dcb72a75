/**
 * Compiles fieldValidation into the rules that `core/rules/` runs. Rules can also describe columns more precisely than
 * the database: how many decimals a number has, whether a loosely typed column contains decimals or booleans.
 */
import { isAtFault, type Survey } from "./survey.ts";
import type { FieldRule, MessageName, RuleName, RuleValues } from "../../rules/rule-definition.ts";
import { readDateForm } from "../../rules/date-form.ts";
import type { Columns, Column } from "../../values/types/column.ts";
import { compileRules } from "../../rules/compile-rules.ts";
import { bareColumn } from "../../rules/field.ts";
import { accept } from "../../values/types/accept.ts";
import { fieldRules, ruleFaults, ruleNames } from "../../rules/field-rules.ts";
import { columnTypes, ruleTypes } from "../../values/types/column-types.ts";
import { didYouMean } from "../reading/did-you-mean.ts";
import { formatPath, type Path } from "../reading/faults.ts";
import { messageNames, type Rule } from "../reading/rule-schema.ts";

/** The columns that the rules are about. */
export interface RuleSubject {
  /** Columns that are written. */
  readonly columns: Columns;
  /** Further columns that are only read: a rule can only give their type. */
  readonly read?: Columns;
  /** The owner of the columns, for faults. */
  readonly of: string;
}

/** The rules in the form from which they are compiled; all faults go to the survey. */
export function readRules(
  survey: Survey,
  written: readonly Rule[],
  path: Path,
  { columns, read = noColumns, of }: RuleSubject,
): FieldRule[] {
  const seen = new Set<string>();
  return written.map((one, index) => {
    const at = [...path, index];
    const rule = fieldRuleOf(one);
    const readColumn = columns.has(rule.name) ? undefined : read.get(rule.name);
    if (readColumn) checkReading(survey, { one, rule, column: readColumn }, at);
    const column = readColumn ? null : survey.column(rule.name, columns, [...at, "name"], of);
    if (seen.has(rule.name)) survey.fault([...at, "name"], { expected: "one rule for each field" });
    seen.add(rule.name);
    for (const fault of ruleFaults(rule, columns)) {
      const value = rule[fault.rule];
      const isName = fieldRules[fault.rule].namesField && typeof value === "string";
      survey.fault([...at, "constraints", fault.rule], {
        expected: `a valid value (it ${fault.message})`,
        hint: isName ? didYouMean(value, columns.keys()) : undefined,
      });
    }
    if (column !== null) noticeValues(survey, { rule, column });
    return rule;
  });
}

/** Notes a default that every create would refuse, and allowed values that no body can have. */
function noticeValues(
  survey: Survey,
  { rule, column }: { readonly rule: FieldRule; readonly column: Column },
): void {
  const { name } = rule;
  const refused = (what: string, value: unknown, reason: string): void =>
    survey.notice(`${name}: the ${what} ${JSON.stringify(value)} is refused (${reason})`);
  const bare = bareColumn(refine(column, rule), rule);
  for (const member of rule.enum ?? []) {
    const typed = member === null ? null : accept(bare, member);
    if (typed?.ok === false) refused("allowed value", member, typed.message);
  }
  // Its form of dates is not known yet.
  const hasDateForm = Object.hasOwn(survey.payload.dateTimeFields ?? {}, name);
  if (rule.default === undefined || rule.default === null || hasDateForm) return;
  const only: Columns = new Map([[name, refine(column, rule)]]);
  const { errors } = compileRules([rule]).check({ [name]: rule.default }, "create", only);
  const message = errors?.[name]?.[0];
  if (message !== undefined) refused("default", rule.default, message);
}

const noColumns: Columns = new Map();

/** Constraints that a rule may have for a column that is only read. */
const readingConstraints: ReadonlySet<string> = new Set(["precision", "scale"]);

function checkReading(
  survey: Survey,
  { one, rule, column }: { one: Rule; rule: FieldRule; column: Column },
  at: Path,
): void {
  for (const name of Object.keys(one.constraints)) {
    if (readingConstraints.has(name)) continue;
    survey.fault([...at, "constraints", name], {
      found: `a constraint on ${rule.name}, which is only read`,
      expected: "only a type, precision or scale, because the column belongs to a view or query",
    });
  }
  const { type } = column;
  if (rule.type === undefined || rule.type === type || column.ruleTypes?.includes(rule.type))
    return;
  survey.notice(
    `fieldValidation: ${rule.name} is a ${type} column in the database, so the type ${rule.type} of its rule has no effect`,
  );
}

/**
 * Notes rules that no body ever meets, because `fieldName` leaves their field out. `checked`: the columns whose values
 * are checked.
 */
export function noteUnchecked(
  survey: Survey,
  rules: readonly Pick<Rule, "name" | "constraints">[],
  { checked, path = ["fieldValidation"] }: { checked: readonly string[]; path?: Path },
): void {
  if (isAtFault(survey, String(path[0]))) return;
  const names = new Set([...checked, survey.payload.workflow?.statusField]);
  for (const { name, constraints } of rules) {
    if (names.has(name)) continue;
    const own = ruleNames.filter((one) => constraints[one] !== undefined);
    if (own.some((one) => !readingConstraints.has(one) && one !== "unique"))
      survey.notice(
        `${formatPath(path)}: the rule of ${name} is never checked, because ${name} is not in fieldName`,
      );
  }
}

type RulesSet = { -readonly [Name in RuleName]?: RuleValues[Name] };

/** The rule in the form from which it is compiled. */
export function fieldRuleOf({
  name,
  type,
  constraints,
}: Pick<Rule, "name" | "constraints"> & { readonly type?: string | undefined }): FieldRule {
  const rules: RulesSet = {};
  for (const one of ruleNames) copyRule(one, constraints, rules);
  const messages: Partial<Record<MessageName, string>> = {};
  for (const one of messageNames) {
    const message = constraints[`${one}Message`];
    if (message !== undefined) messages[one] = message;
  }
  const columnType = type === undefined ? undefined : ruleTypes.get(type);
  return {
    ...rules,
    name,
    ...(columnType !== undefined && { type: columnType }),
    ...(Object.keys(messages).length > 0 && { messages }),
  };
}

function copyRule<Name extends RuleName>(
  name: Name,
  from: { readonly [Each in RuleName]?: RuleValues[Each] | undefined },
  to: RulesSet,
): void {
  const value = from[name];
  if (value !== undefined) to[name] = value;
}

/** The columns, each refined by its rule. */
export function refineColumns(columns: Columns, rules: readonly FieldRule[]): Columns {
  const byName = new Map(rules.map((rule) => [rule.name, rule]));
  return new Map([...columns].map(([name, column]) => [name, refine(column, byName.get(name))]));
}

/** The range of integers on every engine. */
const int64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

function refine(column: Column, rule: FieldRule | undefined): Column {
  if (!rule) return column;
  const asked = rule.type ?? column.type;
  const own = columnTypes[column.type].arithmetic;
  if (asked !== column.type && column.ruleTypes?.includes(asked) === true) {
    const { arithmetic } = columnTypes[asked];
    // The declared type still determines how the engine stores the value; only its interpretation changes.
    return {
      ...column,
      type: asked,
      isLoose: columnTypes[asked].isText,
      lengthMax: null,
      bytesMax: null,
      range: arithmetic?.isWhole ? int64 : null,
      fractionDigits: columnTypes[asked].isInstant || asked === "time" ? 6 : 0,
      precision: arithmetic && (own?.digitsKept ?? null),
      scale: arithmetic && (rule.scale ?? null),
    };
  }
  // A rule that names a time of day means nothing else that the columns of an engine hold as well.
  if (rule.type === "time" && (column.isDuration || column.endsDays))
    return { ...column, isDuration: false, endsDays: false };
  const takesScale = own?.isExact === true && !own.isWhole;
  if (!takesScale || column.scale !== null) return column;
  if (rule.scale === undefined && rule.precision === undefined) return column;
  return {
    ...column,
    scale: rule.scale ?? null,
    precision: column.precision ?? rule.precision ?? null,
  };
}

const dateTypes: ReadonlySet<string> = new Set(["date", "timestamp", "time"]);

/**
 * `dateTimeFields`: the rules, extended by the date formats of fields. A format of a column that holds no dates is a
 * fault. `columns`: those that are written or read.
 */
export function withDateForms(
  survey: Survey,
  rules: readonly FieldRule[],
  { columns, of }: { columns: Columns; of: string },
): FieldRule[] {
  const written = survey.payload.dateTimeFields ?? {};
  const byName = new Map(rules.map((rule) => [rule.name, rule]));
  for (const [name, { format }] of Object.entries(written)) {
    const path = ["dateTimeFields", name];
    const column = survey.column(name, columns, path, of);
    if (column === null) continue;
    const rule = byName.get(name) ?? { name };
    const dateForm = readDateForm(format);
    const type = rule.type ?? column.type;
    if (dateForm === null)
      survey.fault([...path, "format"], {
        expected:
          "a date, a time or both, of the parts yyyy, MM, dd, HH, mm and ss, such as dd/MM/yyyy HH:mm",
      });
    else if (!dateTypes.has(type))
      survey.fault(path, { found: `a ${type} column`, expected: "a column of dates or times" });
    else byName.set(name, { ...rule, dateForm });
  }
  return [...byName.values()];
}
