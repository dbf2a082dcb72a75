/**
 * aggregate: computes counts, sums, averages and extremes over all rows or over groups. It reads the same source as
 * `read` but without defaultScope, and joins the tables that `joins.ts` allows.
 */
import { defineAction } from "../calls/action.ts";
import { aggregateGrammar, type FiguresRequest } from "../lists/aggregate-request.ts";
import { readFigures } from "../lists/figures.ts";
import { numberedPaginationSchema } from "../lists/page.ts";
import type { AggregatePlan } from "../plans/aggregate-plan.ts";
import { tableOfResults } from "../records/table-page.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import { closedObject } from "../values/json-shapes.ts";

const valueSchema: JsonSchema = { type: ["string", "number", "boolean", "null"] };
const rowSchema: JsonSchema = { type: "object", additionalProperties: valueSchema };

/** One object of the results by alias, or one per group with `group_by`. No two members have the same name. */
export const aggregateAnswerSchema: JsonSchema = closedObject(
  {
    data: { anyOf: [rowSchema, { type: "array", items: rowSchema }] },
    pagination: numberedPaginationSchema,
    total: rowSchema,
  },
  ["data"],
);

export const aggregate = defineAction<AggregatePlan, FiguresRequest>({
  name: "aggregate",
  summary: "Counts, sums and averages, of all rows or of groups.",
  mode: "reads",
  methods: ["POST"],
  requires: ["source"],
  errors: ["validationFailed", "validationError", "invalidParameter", "invalidField"],
  showsColumns: true,
  takesEmptyBody: true,
  answersCsv: true,
  needs: (entity) => entity.aggregate,
  sourceOf: ({ source }) => source,
  grammar: (plan, { entity }) => aggregateGrammar(plan, entity.settings),
  answer: () => ({ status: 200, schema: aggregateAnswerSchema }),

  async run({ input, entity, session, wantsCsv }) {
    const { outputs, limit } = input.statement;
    if (wantsCsv) {
      const { rows } = await readFigures(session, { ...input, withTotal: false });
      return { status: 200, body: {}, table: tableOfResults(outputs, rows, entity) };
    }
    const { rows, ...more } = await readFigures(session, input);
    return { status: 200, body: { data: limit === null ? rows[0] : rows, ...more } };
  },
});
