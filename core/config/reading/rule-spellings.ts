/** Alternative spellings of `fieldValidation` and of its date formats. */
import type { Path } from "./faults.ts";
import { isRuleName } from "../../rules/field-rules.ts";
import { isObject } from "../../values/json.ts";
import type { Draft, Members } from "./draft.ts";

/** Properties of a rule without effect here. */
export const harmlessOfRules: readonly string[] = ["label", "description"];

/** `{price: {required: true}}` or `[{name: "price", required: true}]` -> `[{name: "price", constraints: {…}}]`. */
export function normaliseRules(holder: Members, base: Path, moved: Draft["moved"]): void {
  const rules = holder["fieldValidation"];
  const at = [...base, "fieldValidation"];
  if (isObject(rules)) {
    holder["fieldValidation"] = Object.entries(rules).map(([name, rule], index) => {
      moved([...at, index], [...at, name]);
      moved([...at, index, "name"], [...at, name]);
      return isObject(rule)
        ? nestConstraints({ name, ...rule }, [...at, index], [...at, name], moved)
        : rule;
    });
  } else if (Array.isArray(rules)) {
    holder["fieldValidation"] = rules.map((rule, index) =>
      isObject(rule) ? nestConstraints(rule, [...at, index], [...at, index], moved) : rule,
    );
  }
}

/** The properties of a rule in its main spelling. */
export const ruleProperties: readonly string[] = [
  "name",
  "type",
  "primaryKey",
  "autoGenerate",
  "constraints",
];

/** These marks in constraints have no effect: the table determines its key. */
const isMark = (name: string, value: unknown): boolean =>
  (name === "primaryKey" || name === "autoGenerate") && typeof value === "boolean";

/**
 * Moves constraints next to `name` and `type` into `constraints`. One that exists in both places stays, so that the
 * check refuses it.
 */
function nestConstraints(rule: Members, to: Path, from: Path, moved: Draft["moved"]): Members {
  const nested = rule["constraints"] ?? {};
  if (!isObject(nested)) return rule;
  const isFlat = !Object.hasOwn(rule, "constraints");
  const constraints = Object.fromEntries(
    Object.entries(nested).filter(([key, value]) => !isMark(key, value)),
  );
  const normal: Members = { constraints };
  for (const [name, value] of Object.entries(rule)) {
    if (name === "constraints" || harmlessOfRules.includes(name)) continue;
    const isConstraint = isRuleName(name.replace(/Message$/, "")) || name === "typeMessage";
    if (ruleProperties.includes(name) || !(isFlat || isConstraint) || Object.hasOwn(nested, name)) {
      normal[name] = value;
      continue;
    }
    (normal["constraints"] as Members)[name] = value;
    moved([...to, "constraints", name], [...from, name]);
  }
  return normal;
}

const dateTypes: readonly unknown[] = ["date", "datetime", "timestamp", "time"];

/** Moves `constraints.format` of a date to `dateTimeFields`. A list there uses the default format. */
export function carryDateFormats({ root, moved, refuse }: Draft): void {
  const written = root["dateTimeFields"];
  if (Array.isArray(written) && written.every((name) => typeof name === "string"))
    root["dateTimeFields"] = Object.fromEntries(
      written.map((name) => [name, { format: "dd/MM/yyyy" }]),
    );
  for (const { rule, at } of datesWithFormat(root["fieldValidation"])) {
    const { name, type, constraints } = rule;
    const formats = root["dateTimeFields"] ?? {};
    if (!isObject(formats)) return;
    if (!Object.hasOwn(formats, String(name))) {
      formats[String(name)] = { type, format: constraints["format"] };
      moved(["dateTimeFields", String(name)], ["fieldValidation", at, "constraints", "format"]);
    }
    root["dateTimeFields"] = formats;
    delete constraints["format"];
  }
  const details = isObject(root["masterDetail"]) ? root["masterDetail"]["detailConfig"] : null;
  if (!isObject(details)) return;
  for (const { rule, at } of datesWithFormat(details["fieldValidation"])) {
    const path = ["masterDetail", "detailConfig", "fieldValidation", at, "constraints", "format"];
    refuse(path, "no format for dates of details (remove it; dates are ISO 8601)");
    delete rule.constraints["format"];
  }
}

/** A JSON Schema inside of a rule has no counterpart. */
export function refuseJsonSchemas({ root, refuse }: Draft): void {
  const rules = root["fieldValidation"];
  if (!Array.isArray(rules)) return;
  for (const [at, rule] of rules.entries()) {
    const constraints: unknown = isObject(rule) ? rule["constraints"] : null;
    if (!isObject(constraints) || !Object.hasOwn(constraints, "schema")) continue;
    refuse(
      ["fieldValidation", at, "constraints", "schema"],
      "no schema of JSON (check the value in a handler of onBeforeInsert and onBeforeUpdate)",
    );
    delete constraints["schema"];
  }
}

type DateRule = Members & { readonly constraints: Members };

function datesWithFormat(rules: unknown): { rule: DateRule; at: number }[] {
  if (!Array.isArray(rules)) return [];
  return [...rules.entries()].flatMap(([at, rule]) =>
    isObject(rule) &&
    dateTypes.includes(rule["type"]) &&
    isObject(rule["constraints"]) &&
    typeof rule["constraints"]["format"] === "string"
      ? [{ rule: rule as DateRule, at }]
      : [],
  );
}
