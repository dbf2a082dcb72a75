/** Each rule does what its object declares, states it in JSON Schema where possible, and has a row in the docs. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { compileRules } from "../../core/rules/compile-rules.ts";
import { effectOf, fieldRules, ruleFaults, ruleNames } from "../../core/rules/field-rules.ts";
import { column, columnsOf } from "../values/column.ts";
import { takes } from "../openapi/json-schema.ts";
import { rowsUnder } from "../house/page-tables.ts";
import { ruleCases } from "./rule-cases.ts";

describe.each(ruleNames)("%s", (name) => {
  const { column: type, rules, taken, refused, isInSchema } = ruleCases[name];
  const field = column(type, { name: "f" });
  const rule = { name: "f", ...rules };
  const messages = refused === null ? {} : { [name]: "Not so" };
  const compiled = compileRules([rule]);
  const bodyOf = ({ sent }: { sent?: unknown }) => (sent === undefined ? {} : { f: sent });

  test("is the rule of its case, and has no fault", () => {
    expect(rules).toHaveProperty(name);
    expect(ruleFaults(rule, new Set(["f"]))).toEqual([]);
  });

  test("takes a value", () => {
    const { values, errors } = compiled.check(bodyOf(taken), "create", columnsOf(field));
    expect(errors).toBeNull();
    const stored = values.get(field);
    expect(typeof stored === "bigint" ? Number(stored) : stored).toEqual(
      type === "json"
        ? JSON.stringify(taken.shown)
        : type === "decimal"
          ? String(taken.shown)
          : taken.shown,
    );
  });

  test("refuses another one, with its own message or the configuration's", () => {
    const effect = effectOf(name, { rule, bare: field });
    expect(refused === null).toBe(
      effect === null || effect.step === "default" || effect.step === "transform",
    );
    if (refused === null) return;
    expect(fieldRules[name].hasMessage).toBe(true);
    const columns = columnsOf(field);
    expect(compiled.check(bodyOf(refused), "create", columns).errors).toEqual({
      f: [refused.message],
    });
    expect(
      compileRules([{ ...rule, messages }]).check(bodyOf(refused), "create", columns).errors,
    ).toEqual({ f: ["Not so"] });
  });

  test("says to somebody who fills in a cell what it asks for", () => {
    const { asks, isNeeded } = compiled.wordsOf(field);
    if (refused === null || isNeeded || name === "nullable") return;
    const sentence = refused.message.slice(0, 1).toUpperCase() + refused.message.slice(1);
    expect(asks).toContain(`${sentence}.`);
    expect(compileRules([{ ...rule, messages }]).wordsOf(field).asks).toContain("Not so.");
  });

  test("changes the JSON Schema of the field where that has words for it", () => {
    const schema = compiled.schemaOf(field);
    if (taken.sent !== undefined) expect(takes(schema, taken.sent)).toBe(true);
    const withoutIt = compileRules([{ ...rule, [name]: undefined }]).schemaOf(field);
    expect(JSON.stringify(schema) !== JSON.stringify(withoutIt)).toBe(isInSchema);
    if (refused !== null) expect(takes(schema, refused.sent)).toBe(!isInSchema);
  });
});

test("docs/configuration.md has each rule in its table", () => {
  const text = readFileSync(join(import.meta.dirname, "../../docs/configuration.md"), "utf8");
  const named = rowsUnder("### fieldValidation", text);
  expect(named.flatMap(([cell = ""]) => cell.match(/\w+/g) ?? []).toSorted()).toEqual(
    [...ruleNames, "constraint", "Message"].toSorted(),
  );
});

describe("the JSON Schema of a field", () => {
  const text = column("text", { name: "f", lengthMax: 10, nullable: false });

  test.each([
    [
      "without a rule is that of its column",
      text,
      {},
      { type: ["string", "number"], maxLength: 10 },
    ],
    [
      "keeps the tighter limit",
      text,
      { maxLength: 20, minLength: 2 },
      { type: ["string", "number"], maxLength: 10, minLength: 2 },
    ],
    [
      "takes the limit of the rule",
      text,
      { maxLength: 5 },
      { type: ["string", "number"], maxLength: 5 },
    ],
    [
      "is that of the rule's type",
      text,
      { type: "boolean", strict: true },
      { type: "boolean", enum: [true, false, 1, 0, "true", "false", "1", "0"] },
    ],
    [
      "has both of two enumerations",
      column("text", { name: "f", labels: ["a", "b"], nullable: false }),
      { enum: ["b", "c"] },
      { type: ["string", "number"], enum: ["a", "b"], allOf: [{ enum: ["b", "c"] }] },
    ],
    [
      "takes null where the column may be null",
      column("date", { name: "f" }),
      { before: "now" },
      { type: ["string", "null"], format: "date" },
    ],
    [
      "takes no null where the rule forbids it",
      column("date", { name: "f" }),
      { nullable: false },
      { type: "string", format: "date" },
    ],
    [
      "leaves out a pattern in the older syntax",
      text,
      { pattern: "^\\-\\_$" },
      { type: ["string", "number"], maxLength: 10 },
    ],
    [
      "leaves out bounds that are dates",
      column("date", { name: "f", nullable: false }),
      { min: "2026-01-01" },
      { type: "string", format: "date" },
    ],
  ] as const)("%s", (_title, field, rules, schema) => {
    expect(compileRules([{ name: "f", ...rules }]).schemaOf(field)).toEqual(schema);
  });
});
