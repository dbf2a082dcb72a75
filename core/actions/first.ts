/** first: one record by equality, straight from the database, without the default scope. */
import { defineAction } from "../calls/action.ts";
import type { Answer } from "../calls/answer.ts";
import { object } from "../grammar/grammar.ts";
import { selectedRecordSchema } from "../lists/shown-schema.ts";
import { type Column, columnList } from "../values/types/column.ts";
import type { ReadPlan } from "../plans/read-plan.ts";
import { expand, type Expanded } from "../lists/expand.ts";
import { moreSchema, recordsOf, showingOf, versions } from "../records/shown-records.ts";
import type { ReadQueries } from "../query/session.ts";
import { orderedBy } from "../lists/order.ts";
import { etagOf } from "../records/etag.ts";
import type { Row } from "../values/row.ts";
import { selectColumns } from "../query/select.ts";
import { allOf, type Condition } from "../query/statement.ts";
import { equalities } from "../query/where.ts";
import { orNull } from "../values/json-schema.ts";
import { closedObject } from "../values/json-shapes.ts";

interface FirstRequest {
  readonly where: readonly Condition[];
  readonly select: readonly Column[];
  readonly expand: Expanded;
  readonly versions: boolean;
}

export const first = defineAction<ReadPlan, FirstRequest>({
  name: "first",
  summary: "Finds one record by the values of its columns.",
  mode: "reads",
  methods: ["POST"],
  requires: ["source"],
  errors: ["validationFailed", "invalidParameter", "invalidField"],
  showsColumns: true,
  needs: (entity) => entity.read,
  sourceOf: ({ source }) => source,
  grammar: ({ named }) =>
    object(
      {
        where: equalities(named, { single: true }),
        select: selectColumns(named),
        expand: expand(named),
        versions,
      },
      { required: ["where"] },
    ),
  answer: ({ named }, { entity: { settings } }) => ({
    status: 200,
    schema: closedObject(
      { data: orNull(selectedRecordSchema(named, settings)), more: moreSchema },
      ["data"],
    ),
    hasEtag: true,
  }),

  async run({ input, session }, plan) {
    const { where, select } = input;
    const showing = showingOf(input, plan);
    // All own columns, because the ETag may be a hash of the whole record.
    const own = columnList(plan.columns);
    const one = (queries: ReadQueries): Promise<Row | null> =>
      queries.one({
        kind: "select",
        source: plan.source,
        columns: showing === null ? own : [...new Set([...own, ...showing.columns])],
        where: allOf(...where),
        // If several records match, always the same one is answered.
        sort: orderedBy([], plan),
        limit: 1,
        offset: 0,
        lock: false,
      });
    if (showing === null) {
      const row = await one(session);
      if (row === null) return { status: 200, body: { data: null } };
      return { status: 200, body: { data: cut(row, select, plan) }, etag: etagOf(row, plan) };
    }
    const read = async (queries: ReadQueries): Promise<Answer> => {
      const row = await one(queries);
      if (row === null) return { status: 200, body: { data: null } };
      const { records, more } = await recordsOf(queries, [row], {
        ...showing,
        source: plan.source,
      });
      const body = { data: records[0], ...(more && { more }) };
      return { status: 200, body, etag: etagOf(row, plan) };
    };
    return showing.many.length === 0 ? read(session) : session.snapshot(read);
  },
});

function cut(row: Row, shown: readonly Column[], plan: ReadPlan): Row {
  if (shown.length === plan.columns.size) return row;
  return Object.fromEntries(shown.map(({ name }) => [name, row[name] ?? null]));
}
