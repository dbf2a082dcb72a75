/** create: stores one record and answers it as stored. */
import { type Answer, defineAction } from "../action.ts";
import { etagOf } from "../writes/etag.ts";
import { hasHandlers, runAfter, runBefore } from "../writes/events.ts";
import type { Queries, Row } from "../ports.ts";
import { type CreatePlan, insertOf, readBack, recordPlan } from "../writes/record.ts";

export const create = defineAction<CreatePlan>({
  name: "create",
  methods: ["POST"],
  takesOptions: true,
  takesEmptyBody: false,
  isRepeatable: true,

  needs(entity) {
    const plan = recordPlan(entity);
    return plan && { ...plan, keyColumns: new Map([[plan.write.key.name, plan.write.key]]) };
  },

  async run(call, plan) {
    const { entity, session, keepAnswer } = call;
    // A wrong body is refused before anything is done, unless a handler may still put it right.
    const ready = hasHandlers(entity, "onBeforeInsert") ? null : insertOf(call, plan);
    const store = async (queries: Queries): Promise<Answer> => {
      const data = await runBefore(call, queries, { event: "onBeforeInsert", data: call.body });
      const insert = ready ?? insertOf({ ...call, body: data }, plan);
      const record = await readBack(onlyRow(await queries.insert(insert)), plan, queries);
      await runAfter(call, queries, { event: "onAfterInsert", data, record });
      const message = `${entity.name} data successfully added`;
      const etag = etagOf(record, plan.read);
      const answer: Answer = { status: 201, body: { message, data: record }, etag };
      return keepAnswer ? keepAnswer(queries, answer) : answer;
    };
    const isOneStatement =
      keepAnswer === null &&
      !plan.write.readBack &&
      !hasHandlers(entity, "onBeforeInsert", "onAfterInsert");
    return isOneStatement ? store(session) : session.tx(store);
  },
});

function onlyRow(rows: Row[]): Row {
  const [row] = rows;
  if (!row) throw new Error("The database stored a row and did not answer it");
  return row;
}
