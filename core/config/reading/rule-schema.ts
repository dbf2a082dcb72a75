/** The Zod schema of one rule of `fieldValidation`, derived from the rule objects in `core/rules/`. */
import { z } from "zod";
import { fieldRules, ruleNames } from "../../rules/field-rules.ts";
import type { MessageName, RuleDefinitions, RuleName } from "../../rules/rule-definition.ts";
import { ruleTypes } from "../../values/types/column-types.ts";
import { filledText } from "./usual-schemas.ts";

/** Object.fromEntries loses the types of the individual names. */
const schemas = Object.fromEntries(
  Object.entries(fieldRules).map(([name, { schema }]) => [name, schema]),
) as { readonly [Name in RuleName]: RuleDefinitions[Name]["schema"] };

/** The rules, and `type`: a value has the type of its field. */
export const messageNames: readonly MessageName[] = [
  "type",
  ...ruleNames.filter((name) => fieldRules[name].hasMessage),
];

const messages = Object.fromEntries(
  messageNames.map((name) => [
    `${name}Message`,
    filledText.describe(`Message when ${name} fails.`),
  ]),
) as { readonly [Name in MessageName as `${Name}Message`]: z.ZodString };

export const constraintsSchema = z.strictObject({ ...schemas, ...messages }).partial();

export const ruleSchema = z.strictObject({
  name: filledText.describe("The column."),
  type: z
    .enum([...ruleTypes.keys()])
    .optional()
    .describe("What the field holds; absent: what its column holds."),
  primaryKey: z.boolean().optional().describe("For readers: this field is the key."),
  autoGenerate: z
    .boolean()
    .optional()
    .describe("For readers: the service or the database fills the field."),
  constraints: constraintsSchema.default({}).describe("What the value must satisfy."),
});

/** One rule in the main spelling. */
export type Rule = z.output<typeof ruleSchema>;
