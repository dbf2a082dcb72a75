/** create: stores one record and answers it as stored. */
import { type Answer, defineAction, type Write } from "../calls/action.ts";
import type { Queries } from "../query/session.ts";
import { etagOf } from "../records/etag.ts";
import { hasHandlers, runAfter, runBefore } from "../records/events.ts";
import type { Row } from "../values/row.ts";
import type { Insert } from "../query/statement.ts";
import type { Json } from "../values/json.ts";
import { insertOf, type InsertingPlan, readBack } from "../records/record.ts";
import { newRecord } from "../records/record-grammar.ts";
import { writeAnswerSchema } from "../records/record-schema.ts";

export const create = defineAction<InsertingPlan>({
  name: "create",
  summary: "Stores one record.",
  mode: "writes",
  methods: ["POST"],
  requires: ["table", "inserts", "auditColumns"],
  headers: ["Idempotency-Key"],
  events: ["onBeforeInsert", "onAfterInsert"],
  errors: ["validationFailed", "foreignKeyMissing", "duplicateEntry"],
  sees: "active",
  takesOptions: true,
  takesEmptyBody: false,

  needs({ insert, read }) {
    return insert && read && { write: insert, read };
  },
  grammar: (plan, { entity }) => newRecord(plan, entity),
  answer: (plan, { entity }) => ({
    status: 201,
    schema: writeAnswerSchema(plan, entity, "added"),
    hasEtag: true,
  }),

  begin(call, plan): Write {
    const { entity } = call;
    const { key, shown } = plan.write;
    // An invalid body is refused before anything is written, unless a handler could still correct it.
    const ready = hasHandlers(entity, "onBeforeInsert") ? null : insertOf(call, plan);
    const unshown = key.filter(({ name }) => !shown.has(name));

    async function store(insert: Insert, queries: Queries): Promise<Row> {
      const returning = unshown.length === 0 ? insert.returning : [...insert.returning, ...unshown];
      return onlyRow(await queries.insert({ ...insert, returning }));
    }

    function withoutUnshown(record: Row): Row {
      for (const { name } of unshown) delete record[name];
      return record;
    }

    function answer(subject: readonly Json[], record: Row): Answer {
      const message = `${entity.name} data successfully added`;
      const etag = etagOf(record, plan.read);
      return { status: 201, body: { message, data: record }, etag, subject };
    }

    const subjectOf = (row: Row): Json[] => key.map(({ name }) => row[name] ?? null);

    if (ready !== null && !plan.write.readBack && !hasHandlers(entity, "onAfterInsert"))
      return {
        isOneStatement: true,
        async run(queries) {
          const row = await store(ready, queries);
          return answer(subjectOf(row), withoutUnshown(row));
        },
      };
    return {
      isOneStatement: false,
      async run(queries) {
        const data = await runBefore(call, queries, { event: "onBeforeInsert", data: call.body });
        const row = await store(ready ?? insertOf({ ...call, body: data }, plan), queries);
        const subject = subjectOf(row);
        const record = withoutUnshown(await readBack(row, plan, queries));
        await runAfter(call, queries, { event: "onAfterInsert", data, record });
        return answer(subject, record);
      },
    };
  },
});

function onlyRow(rows: Row[]): Row {
  const [row] = rows;
  if (!row) throw new Error("The database stored a row but did not return it");
  return row;
}
