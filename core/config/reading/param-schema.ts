/** One member of `params`: a value that requests, or a claim of the caller, give to the endpoint's own SQL. */
import { z } from "zod";
import { ruleTypes } from "../../values/types/column-types.ts";
import { constraintsSchema } from "./rule-schema.ts";

/** Types with one value that every engine can take. */
const typeNames = [...ruleTypes.keys()].filter((name) => name !== "array" && name !== "json");

export const typeSchema = z.enum(typeNames as [string, ...string[]]);

const plain = z.union([z.string(), z.number(), z.boolean()]);

const sentParam = z.strictObject({
  type: typeSchema.default("string").describe("What the value is."),
  required: z.boolean().default(false).describe("Requests must send it."),
  default: plain.optional().describe("The value of requests that send none; absent: null."),
  constraints: constraintsSchema
    .default({})
    .describe("What the value must satisfy, as of a field."),
});

const claimedParam = z.strictObject({
  claim: z.string().min(1).describe("The claim of the caller that is the value."),
  type: typeSchema.default("string").describe("What the value is."),
});

const paramSchema = z.union([claimedParam, sentParam]);

export type ParamConfig = z.output<typeof paramSchema>;

const name = z.string().regex(/^[A-Za-z_]\w{0,62}$/, "a name of letters, digits and _");

export const paramsSchema = z
  .record(name, paramSchema)
  .describe("Values for :name in viewQuery, datatablesQuery and exportQuery.");
