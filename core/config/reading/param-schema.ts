/** One member of `params`: a value that requests, or a claim of the caller, give to the endpoint's own SQL. */
import { z } from "zod";
import { ruleTypes } from "../../values/types/column-types.ts";
import { constraintsSchema } from "./rule-schema.ts";
import { filledText, offByDefault } from "./usual-schemas.ts";

/** Types with one value that every engine can take. */
const typeNames = [...ruleTypes.keys()].filter((name) => name !== "array" && name !== "json");

export const typeSchema = z.enum(typeNames as [string, ...string[]]);

const plain = z.union([z.string(), z.number(), z.boolean()]);

const sentParam = z.strictObject({
  type: typeSchema.default("string").describe("What the value is."),
  required: offByDefault.describe("Requests must send it."),
  default: plain.optional().describe("The value of requests that send none; absent: null."),
  constraints: constraintsSchema
    .default({})
    .describe("What the value must satisfy, as of a field."),
});

const claimedParam = z.strictObject({
  claim: filledText.describe("The claim of the caller that is the value."),
  type: typeSchema.default("string").describe("What the value is."),
});

/** Of a procedure. */
const answeredParam = sentParam.extend({
  out: offByDefault.describe("The procedure answers it, and takes no value."),
  inout: offByDefault.describe("The procedure takes a value and answers another."),
});

export type SentParam = z.output<typeof sentParam>;
export type ParamConfig =
  | z.output<typeof claimedParam>
  | SentParam
  | z.output<typeof answeredParam>;

const name = z.string().regex(/^[A-Za-z_]\w{0,62}$/, "a name of letters, digits and _");

export const paramsSchema = z
  .record(name, z.union([claimedParam, sentParam]))
  .describe("Values for :name in viewQuery, datatablesQuery and exportQuery.");

export const procedureSchema = z
  .strictObject({
    name: filledText.describe("The procedure in the database; may be schema.name."),
    params: z
      .record(name, z.union([claimedParam, answeredParam]))
      .default({})
      .describe("Its parameters, by their names."),
  })
  .describe("What the action call runs.");
