/**
 * aggregate: computes counts, sums, averages and extremes over all rows or over groups. It reads the same source as
 * `read` but without defaultScope, and joins the tables that `joins.ts` allows.
 */
import { defineAction } from "../calls/action.ts";
import { aggregateGrammar } from "../lists/aggregate-request.ts";
import type { AggregatePlan } from "../plans/aggregate-plan.ts";
import { tableOfResults } from "../records/table-page.ts";
import type { Aggregate } from "../query/statement.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import { wholeObject } from "../values/json-shapes.ts";

const valueSchema: JsonSchema = { type: ["string", "number", "boolean", "null"] };
const rowSchema: JsonSchema = { type: "object", additionalProperties: valueSchema };

/** One object of the results by alias, or one per group with `group_by`. No two members have the same name. */
export const aggregateAnswerSchema: JsonSchema = wholeObject({
  data: { anyOf: [rowSchema, { type: "array", items: rowSchema }] },
});

export const aggregate = defineAction<AggregatePlan, Aggregate>({
  name: "aggregate",
  summary: "Counts, sums and averages, of all rows or of groups.",
  mode: "reads",
  methods: ["POST"],
  requires: ["source"],
  errors: ["validationError", "invalidParameter", "invalidField"],
  showsColumns: true,
  takesOptions: false,
  takesEmptyBody: true,
  answersCsv: true,
  needs: (entity) => entity.aggregate,
  grammar: aggregateGrammar,
  answer: () => ({ status: 200, schema: aggregateAnswerSchema }),

  async run({ input, entity, session, wantsCsv }) {
    const rows = await session.aggregate(input);
    if (wantsCsv)
      return { status: 200, body: {}, table: tableOfResults(input.outputs, rows, entity) };
    return { status: 200, body: { data: input.limit === null ? rows[0] : rows } };
  },
});
