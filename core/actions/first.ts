/** first: one record by equality, straight from the database, without the default scope. */
import { defineAction } from "../calls/action.ts";
import { type Column, columnList } from "../values/column.ts";
import type { ReadPlan } from "../plans/entity.ts";
import { orderedBy } from "../lists/order.ts";
import { etagOf } from "../records/etag.ts";
import type { Row } from "../plans/ports.ts";
import { allOf } from "../query/statement.ts";
import { parseEqualities } from "../query/where.ts";
import { parseSelect } from "./read.ts";
import { firstAnswerSchema, firstSchema } from "../lists/read-schema.ts";

export const first = defineAction<ReadPlan>({
  name: "first",
  summary: "Finds one record by the values of its columns.",
  mode: "reads",
  methods: ["POST"],
  requires: ["source"],
  errors: ["invalidParameter", "invalidField"],
  showsColumns: true,
  takesOptions: false,
  takesEmptyBody: false,
  needs: (entity) => entity.read,
  input: (plan) => firstSchema(plan),
  answer: (plan, { entity }) => ({
    status: 200,
    schema: firstAnswerSchema(plan, entity),
    hasEtag: true,
  }),

  async run({ body, session }, plan) {
    const conditions = parseEqualities(body["where"], plan.columns, true);
    const shown = parseSelect(body["select"], plan.columns);
    const row = await session.one({
      kind: "select",
      source: plan.source,
      // All columns, because the ETag may be a hash of the whole record.
      columns: columnList(plan.columns),
      where: allOf(...conditions),
      // If several records match, always the same one is answered.
      sort: orderedBy([], plan),
      limit: 1,
      offset: 0,
      lock: false,
    });
    if (row === null) return { status: 200, body: { data: null } };
    return { status: 200, body: { data: cut(row, shown, plan) }, etag: etagOf(row, plan) };
  },
});

function cut(row: Row, shown: readonly Column[], plan: ReadPlan): Row {
  if (shown.length === plan.columns.size) return row;
  return Object.fromEntries(shown.map(({ name }) => [name, row[name] ?? null]));
}
