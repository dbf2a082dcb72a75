/** `before` and `after`: which of two fields comes first, in time. */
import { z } from "zod";
import { momentOf } from "../values/formats.ts";
import { noKeywords, type RuleDefinition } from "./rule-definition.ts";

const schema = z.string().min(1).describe('A date, "now", or the name of another field.');

const fault: RuleDefinition<string>["fault"] = (bound, _rule, fields) =>
  bound === "now" || fields.has(bound) || momentOf(bound) !== null
    ? null
    : "must be the name of a field, a date or `now`";

export const before: RuleDefinition<string> = {
  schema,
  hasMessage: true,
  namesField: true,
  fault,
  effect: (bound) => ({
    step: "comparison",
    bound,
    message: `must be before ${bound}`,
    holds: (side) => side < 0,
  }),
  keywords: noKeywords,
};

export const after: RuleDefinition<string> = {
  schema,
  hasMessage: true,
  namesField: true,
  fault,
  effect: (bound) => ({
    step: "comparison",
    bound,
    message: `must be after ${bound}`,
    holds: (side) => side > 0,
  }),
  keywords: noKeywords,
};
