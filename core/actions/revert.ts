/** revert: undoes one recorded change with an update, by restoring a deleted record, or by creating it again. */
import { rescoped } from "../callers/scoped-session.ts";
import { seeing } from "../callers/visibility.ts";
import { type CallOf, defineAction, type Write } from "../calls/action.ts";
import { type RecordedChange, changesAt, logColumns } from "../changes/change-log.ts";
import { unsealNumber } from "../changes/sealed-numbers.ts";
import { changeSeal, type HistoryPlan, historyPlan, readChanges } from "../changes/seen-changes.ts";
import { object, text } from "../grammar/grammar.ts";
import type { Entity } from "../plans/entity.ts";
import { keyIs } from "../query/key-conditions.ts";
import { allOf, equals } from "../query/statement.ts";
import { updateOf } from "../records/changed-record.ts";
import { etagOf } from "../records/etag.ts";
import { scalarOf } from "../query/find-rows.ts";
import { beginCreate } from "../records/new-record.ts";
import {
  beginChange,
  changePlan,
  filledBeside,
  lockRecord,
  type RecordPlan,
} from "../records/record.ts";
import { writeAnswerSchema } from "../records/record-schema.ts";
import { keyAsJson } from "../records/replay.ts";
import { restoreFound, type RestorePlan } from "../records/restore-records.ts";
import { isDemanded } from "../totals/foreseen-values.ts";
import { AppError, invalidPayload, noSuchRecord, notFound } from "../values/errors.ts";
import type { Json } from "../values/json.ts";
import type { Columns } from "../values/types/column.ts";
import { accept } from "../values/types/accept.ts";
import type { KeyValue } from "../values/types/key.ts";
import { maySend } from "../values/types/new-key.ts";

interface RevertPlan extends HistoryPlan, RecordPlan {
  readonly marking: RestorePlan["marking"] | null;
}

interface RevertRequest {
  readonly change_id: string;
}

type RevertCall = CallOf<RevertRequest>;

export const revert = defineAction<RevertPlan, RevertRequest>({
  name: "revert",
  summary: "Undoes one recorded change of a record.",
  mode: "writes",
  methods: ["POST"],
  requires: ["key", "history", "updates"],
  headers: ["If-Match", "X-Lock-Token"],
  events: [
    "onBeforeUpdate",
    "onAfterUpdate",
    "onBeforeInsert",
    "onAfterInsert",
    "onBeforeRestore",
    "onAfterRestore",
  ],
  errors: [
    "validationFailed",
    "foreignKeyMissing",
    "duplicateEntry",
    "constraintViolation",
    "dataNotFound",
  ],

  needs(entity) {
    const [plan, record] = [historyPlan(entity), changePlan(entity)];
    return plan && record && { ...record, ...plan, marking: entity.marking };
  },
  grammar: () =>
    object(
      { change_id: text(() => invalidPayload("change_id must be the text that history shows")) },
      { required: ["change_id"] },
    ),
  answer: (plan, { entity }) => ({
    status: 201,
    schema: writeAnswerSchema(plan, entity, "added"),
    others: { 200: writeAnswerSchema(plan, entity, "updated") },
    hasEtag: true,
  }),

  async begin(call, plan): Promise<Write> {
    const change = await changeOf(call, plan);
    const keyValue = plan.write.key.map((column) => scalarOf(column, change.key));
    switch (change.kind) {
      case "create":
      case "restore":
        throw invalidPayload(
          "A change that made the record cannot be reverted; delete the record instead",
        );
      case "update":
        return beginUpdate(call, plan, { change, keyValue });
      case "mark":
        return beginRestore(call, plan, keyValue);
      case "delete":
        return beginCreation(call, plan, change);
    }
  },
});

/** Rejects with `notFound` if there is no such change for the caller. */
async function changeOf(call: RevertCall, plan: RevertPlan): Promise<RecordedChange> {
  const { input, session, entity } = call;
  const missing = () => notFound(`${entity.name} has no such change`);
  const id = unsealNumber(input.change_id, await changeSeal(call));
  if (id === null) throw missing();
  const ledger = await session.ledger("changes");
  const { changes } = await readChanges(session, plan, {
    ledger,
    where: allOf(
      changesAt({ ledger, recorded: plan.recorded, key: null, now: call.now() }),
      equals(logColumns(ledger).change_id, id),
    )!,
    offset: 0,
    tooFar: null,
    size: 1,
  });
  const [change] = changes;
  if (change === undefined) throw missing();
  return change;
}

/** Rejects as the other action would: with `notFound` where it is off, so that revert opens no other way to write. */
function mustAlso(call: RevertCall, action: string): void {
  if (!call.entity.enabled.has(action))
    throw notFound(
      `Reverting this change needs ${action}, which is switched off for ${call.entity.name}`,
    );
  if (!call.mayAlso(action))
    throw new AppError("forbidden", `Reverting this change needs the right to ${action} as well`);
}

/** The columns that follow the record's lines, which revert leaves as they are. */
const totalsOf = ({ documents }: Entity, { write }: RevertPlan): Columns =>
  new Map(
    (documents.documents.get(write.table.identity) ?? []).flatMap(({ header }) =>
      header.totals.map(({ column }) => [column.name, column]),
    ),
  );

/** An update to the values before, as far as the caller may write them. */
function beginUpdate(
  call: RevertCall,
  plan: RevertPlan,
  { change, keyValue }: { change: RecordedChange; keyValue: KeyValue },
): Write | Promise<Write> {
  mustAlso(call, "update");
  const { shown, writable, table } = plan.write;
  const totals = totalsOf(call.entity, plan);
  const numbered = new Set(
    call.entity.numbers.get(table.identity)?.map(({ column: { name } }) => name),
  );
  const values = Object.entries(change.before ?? {}).filter(
    ([name, value]) =>
      shown.has(name) &&
      writable.has(name) &&
      !totals.has(name) &&
      // A record keeps the number that the change gave it.
      !(numbered.has(name) && (value === null || value === "")),
  );
  if (values.length === 0)
    throw invalidPayload("The change concerns no field that an update can set");
  const asked = { ...call, body: { ...change.key, ...Object.fromEntries(values) } };
  return beginChange(asked, plan, updateOf(asked, plan, keyValue));
}

async function beginRestore(
  call: RevertCall,
  plan: RevertPlan,
  keyValue: KeyValue,
): Promise<Write> {
  mustAlso(call, "restore");
  const { marking, write } = plan;
  const { entity, locks } = call;
  if (marking === null) throw noSuchRecord(entity);
  if (locks.guardsWrites) await locks.guardWrite(write, [keyValue]);
  return {
    isOneStatement: false,
    async run(tx) {
      const marked = rescoped(tx, (scope) => seeing(scope, entity, "marked"));
      if (call.ifMatch !== null) await lockRecord(call, plan, keyValue, marked);
      const where = keyIs(write.key, keyValue);
      const [record] = await restoreFound(call, { ...plan, marking }, { where, tx: marked });
      if (record === undefined)
        throw new AppError("dataNotFound", `No deleted record of ${entity.name} matches`);
      const message = `${entity.name} data successfully restored`;
      const etag = etagOf(record, plan.read);
      const subject = keyAsJson(keyValue);
      return { status: 200, body: { message, data: record }, etag, subject };
    },
  };
}

/** Refused where the record would come back without a value: never recorded, or not the caller's to set nor filled in. */
function beginCreation(call: RevertCall, plan: RevertPlan, change: RecordedChange): Write {
  mustAlso(call, "create");
  const { write, recorded } = plan;
  const key = new Map(write.key.map((column) => [column.name, column]));
  const isNamed = (name: string): boolean => {
    const named = key.get(name);
    return named === undefined ? write.writable.has(name) : maySend(named, write);
  };
  const filled = filledBeside({ ...call, rules: call.entity.rules }, write);
  const isFilled = (name: string, value: Json): boolean => {
    const column = write.table.columns.get(name)!;
    const own = filled.get(column) ?? null;
    const accepted = accept(column, value);
    return value === null ? own === null : accepted.ok && accepted.value === own;
  };
  const { documents } = call.entity;
  const totals = totalsOf(call.entity, plan);
  const results = documents.lines.get(write.table.identity)?.computed ?? [];
  const computed = new Set([...totals.keys(), ...results.map(({ column: { name } }) => name)]);
  const isLost = (name: string, value: Json): boolean =>
    !isNamed(name) && !computed.has(name) && !isFilled(name, value);
  const before = Object.entries(change.before ?? {});
  const unrecorded = [...write.table.columns.keys()].filter((name) => !recorded.kept.has(name));
  if (unrecorded.length > 0) throw isIncomplete("not all of its values were recorded", unrecorded);
  const foreign = before.flatMap(([name, value]) =>
    (key.has(name) || recorded.settable.has(name)) && isLost(name, value) ? [name] : [],
  );
  if (foreign.length > 0) throw isIncomplete("you may not set all of its values", foreign);
  // The record comes back without its lines.
  const isOfLines = (name: string): boolean => totals.has(name) && !isDemanded(totals.get(name)!);
  const values = before.filter(([name]) => isNamed(name) && !isOfLines(name));
  return beginCreate({ ...call, body: Object.fromEntries(values) }, plan);

  function isIncomplete(why: string, lost: readonly string[]): AppError {
    const named = lost.filter((name) => write.shown.has(name));
    const which = named.length > 0 ? `: those of ${named.join(", ")} are missing` : "";
    return new AppError(
      "constraintViolation",
      `The record cannot be created again, because ${why}${which}`,
    );
  }
}
