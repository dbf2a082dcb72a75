/**
 * What `fieldValidation` may say of one field. What the constraints do is in `core/writes/rules.ts`; this is how they
 * are written. Used by `schema.ts`, and by `compat.ts` for the names.
 */
import { z } from "zod";
import { columnTypeOf, type RuleType } from "../writes/field-rule.ts";

const fieldTypes = Object.keys(columnTypeOf) as RuleType[];

const count = z.int().min(0);
const bound = z
  .union([z.number(), z.string().min(1)])
  .describe(
    "A number (its digits as text where there are many), or a date or time for a field of that type.",
  );
const moment = z.string().min(1).describe('A date, "now", or the name of another field.');

const constraintSchemas = {
  required: z
    .boolean()
    .describe("The field must be sent with a value; on update: it cannot be emptied."),
  nullable: z.boolean().describe("false: null is refused."),
  default: z.unknown().describe("Taken on create when the field is not sent."),
  unique: z.boolean().describe("For readers: the database's own unique constraint decides."),
  minLength: count.describe("Fewest characters."),
  maxLength: count.describe("Most characters."),
  pattern: z.string().min(1).describe("Regular expression that the text must match."),
  enum: z
    .array(z.union([z.string(), z.number(), z.boolean(), z.null()]))
    .min(1)
    .describe("The only values."),
  format: z.enum(["email", "phone", "url", "uuid"]).describe("What the text must be."),
  trim: z.boolean().describe("Blanks around the text are cut off before anything is checked."),
  lowercase: z.boolean().describe("The text is stored in lower case."),
  uppercase: z.boolean().describe("The text is stored in upper case."),
  min: bound,
  max: bound,
  positive: z.boolean().describe("Greater than 0."),
  negative: z.boolean().describe("Less than 0."),
  integer: z.boolean().describe("A whole number."),
  precision: z.int().min(1).describe("Most digits in all."),
  scale: count.describe("Most digits behind the point."),
  before: moment,
  after: moment,
  minItems: count.describe("Fewest items of a list."),
  maxItems: count.describe("Most items of a list."),
  uniqueItems: z.boolean().describe("No item of the list twice."),
  strict: z.boolean().describe("No conversion: a number as text, for one, is refused."),
};

export const constraintNames: readonly string[] = Object.keys(constraintSchemas);

/** These change a value or leave it alone, so there is nothing to say when they fail. */
const silent: readonly string[] = ["default", "trim", "lowercase", "uppercase"];

const messages = Object.fromEntries(
  ["type", ...constraintNames]
    .filter((name) => !silent.includes(name))
    .map((name) => [`${name}Message`, z.string().min(1).describe(`Message when ${name} fails.`)]),
);

export const constraintsSchema = z.strictObject({ ...constraintSchemas, ...messages }).partial();

export const ruleSchema = z.strictObject({
  name: z.string().min(1).describe("The column."),
  type: z
    .enum(fieldTypes)
    .optional()
    .describe("What the field holds; absent: what its column holds."),
  primaryKey: z.boolean().optional().describe("For readers: this field is the key."),
  autoGenerate: z
    .boolean()
    .optional()
    .describe("For readers: the service or the database fills the field."),
  constraints: constraintsSchema.default({}).describe("What the value must satisfy."),
});

/** One rule in the first spelling. */
export type Rule = z.output<typeof ruleSchema>;
