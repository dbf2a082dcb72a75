/** history: what was changed of one record, or of all records of the table, by whom and when. */
import { type Call, defineAction } from "../calls/action.ts";
import { changesAt, logColumns } from "../changes/change-log.ts";
import {
  changeSeal,
  type HistoryPlan,
  historyPlan,
  readChanges,
  seenKey,
  seenValues,
} from "../changes/seen-changes.ts";
import { sealNumber } from "../changes/sealed-numbers.ts";
import { absentOr, described, type Meaning, object, wholeNumber } from "../grammar/grammar.ts";
import { numberedPaginationSchema, beginningOf, paginationOf, perPage } from "../lists/page.ts";
import { rowOf } from "../query/key-conditions.ts";
import { allOf, type Condition } from "../query/statement.ts";
import { where } from "../query/where.ts";
import { readKey, requiredFields } from "../records/record-key.ts";
import { keyMembers } from "../records/record-grammar.ts";
import { scalarOf } from "../query/find-rows.ts";
import { invalidParameter, validationFailed } from "../values/errors.ts";
import { anything, orNull } from "../values/json-schema.ts";
import { closedObject } from "../values/json-shapes.ts";
import { type Column, type Columns, derivedColumn, type Table } from "../values/types/column.ts";
import type { KeyValue } from "../values/types/key.ts";

/** What `where` can name, and the column of the log that holds it. */
const fields: Columns = new Map([
  ["at", derivedColumn("at", "timestamp", { fractionDigits: 3 })],
  ["by", derivedColumn("by", "text", {})],
  ["action", derivedColumn("action", "text", {})],
]);

const storedAs = { at: "at", by: "by_user", action: "action" } as const;

const members = ({ write }: HistoryPlan) => ({
  ...(write.namesRecords && keyMembers(write.key)),
  page: described(
    absentOr(
      wholeNumber({ min: 1, max: Number.MAX_SAFE_INTEGER }, () =>
        invalidParameter("page must be a whole number from 1"),
      ),
      1,
    ),
    { default: 1 },
  ),
  per_page: perPage,
  where: where(fields),
});

type HistoryRequest = Pick<Meaning<ReturnType<typeof grammarOf>>, "page" | "per_page" | "where">;

const grammarOf = (plan: HistoryPlan) => object(members(plan));

const text = { type: "string" } as const;

const changeSchema = closedObject(
  {
    change_id: text,
    at: text,
    by: orNull(text),
    action: text,
    reason: orNull(text),
    request_id: text,
    key: orNull({ type: "object" }),
    changes: {
      type: "object",
      additionalProperties: closedObject({ from: anything, to: anything }, ["from", "to"]),
    },
  },
  ["change_id", "at", "by", "action", "reason", "request_id", "key", "changes"],
);

export const history = defineAction<HistoryPlan, HistoryRequest>({
  name: "history",
  summary: "Tells what was changed of a record, by whom and when.",
  mode: "reads",
  methods: ["POST"],
  requires: ["key", "history"],
  errors: ["invalidParameter", "invalidField", "validationFailed"],
  takesEmptyBody: true,
  needs: historyPlan,
  grammar: (plan) => grammarOf(plan),
  answer: () => ({
    status: 200,
    schema: closedObject(
      { data: { type: "array", items: changeSchema }, pagination: numberedPaginationSchema },
      ["data", "pagination"],
    ),
  }),

  async run(call, plan) {
    const { input, entity, session } = call;
    const { page, per_page: size } = input;
    const { offsetMax } = entity.settings;
    const beginning = beginningOf(
      { page, size },
      { offsetMax, instead: "narrow the changes with where" },
    );
    const key = await keyIn(call, plan);
    const ledger = await session.ledger("changes");
    const { changes, total } = await readChanges(session, plan, {
      ledger,
      where: allOf(
        changesAt({ ledger, recorded: plan.recorded, key, now: call.now() }),
        input.where && stored(input.where, ledger),
      )!,
      ...beginning,
      size,
    });
    const seal = await changeSeal(call);
    const data = changes.map((change) => ({
      change_id: sealNumber(BigInt(change.id), seal),
      at: change.at,
      by: change.by,
      action: change.action,
      reason: change.reason,
      request_id: change.requestId,
      key: seenKey(change, plan),
      changes: seenValues(change, plan),
    }));
    return { status: 200, body: { data, pagination: paginationOf(page, size, total) } };
  },
});

/** The key in the body, in the form in which the record stores it; null: the body names no record. */
async function keyIn(
  { body, session }: Pick<Call, "body" | "session">,
  { write, recorded }: HistoryPlan,
): Promise<KeyValue | null> {
  const { key, table } = write;
  if (!write.namesRecords || !key.some(({ name }) => Object.hasOwn(body, name))) return null;
  const { values, missing } = readKey(body, { named: key, key, prefix: "The" });
  if (missing.length > 0) throw validationFailed(requiredFields(missing));
  if (!key.some(({ isLoose }) => isLoose)) return values;
  const row = await session.one(rowOf({ table, key, keyValue: values }, recorded.key));
  return row === null ? values : key.map((column) => scalarOf(column, row));
}

/** The same condition over the columns of the log. */
function stored(condition: Condition, ledger: Table): Condition {
  const columns = logColumns(ledger);
  const own = ({ name }: Column): Column => columns[storedAs[name as keyof typeof storedAs]];
  if ("members" in condition)
    return { ...condition, members: condition.members.map((one) => stored(one, ledger)) };
  return "column" in condition ? { ...condition, column: own(condition.column) } : condition;
}
