/**
 * bulk-update: changes many records in one transaction. They are named by their keys, each with fields of its own, or
 * by a condition, with the same fields for all.
 */
import { type CallOf, defineAction, type Write } from "../calls/action.ts";
import { type Grammar, meaning, type Meaning, object, whatever } from "../grammar/grammar.ts";
import type { Entity } from "../plans/entity.ts";
import type { Transaction } from "../query/session.ts";
import type { Assignment } from "../query/statement.ts";
import { invalidPayload } from "../values/errors.ts";
import { isObject } from "../values/json.ts";
import type { Row } from "../values/row.ts";
import { keyNames, type KeyValue } from "../values/types/key.ts";
import { guardItems, keyedItems, type LockedItem, lockItems } from "../records/bulk-keys.ts";
import { type Done, doneOf, Outcomes, storeParts } from "../records/bulk-outcomes.ts";
import {
  bulkForm,
  bulkMembers,
  bulkMode,
  etags,
  keyedOr,
  recordList,
  stepFaultOf,
  withEtags,
} from "../records/bulk-request.ts";
import { beginMatching, bulkWhere, expected } from "../records/bulk-where.ts";
import { updatesIn, changeSet, updateOf } from "../records/changed-record.ts";
import { hasHandlers } from "../records/events.ts";
import { changedFields, changedRecordBody } from "../records/record-grammar.ts";
import { changePlan, changeWork, isNamed, type RecordPlan } from "../records/record.ts";
import { recordAnswerSchema } from "../records/record-schema.ts";

type ByKey = Meaning<ReturnType<typeof byKey>>;
type ByWhere = Meaning<ReturnType<typeof byWhere>>;

export const bulkUpdate = defineAction<RecordPlan, ByKey | ByWhere>({
  name: "bulk-update",
  summary: "Changes many records.",
  mode: "writes",
  methods: ["POST"],
  requires: ["key", "updates", "auditColumns", "transactions"],
  headers: ["X-Lock-Token", "Idempotency-Key"],
  events: ["onBeforeUpdate", "onAfterUpdate"],
  errors: [
    "invalidField",
    "invalidParameter",
    "validationFailed",
    "foreignKeyMissing",
    "duplicateEntry",
    "foreignKeyInUse",
    "preconditionFailed",
    "unexpectedCount",
  ],
  takesDryRun: true,
  stepFault: stepFaultOf,
  needs: changePlan,
  grammar: (plan, { entity }) => keyedOr("data", byKey(plan, entity), byWhere(plan, entity)),
  answer: (plan, { entity }) =>
    bulkForm({
      entity,
      record: recordAnswerSchema(plan, entity),
      done: "updated",
      status: 200,
      hasEtags: true,
    }),
  begin: (call, plan) =>
    "data" in call.input
      ? beginByKey(call, plan, call.input)
      : beginByWhere(call, plan, call.input),
});

const byKey = (plan: RecordPlan, entity: Entity) =>
  withEtags(
    object(
      {
        data: recordList("data", changedRecordBody(plan, entity), entity),
        etags: etags(entity),
        mode: bulkMode,
        ...bulkMembers,
      },
      { required: ["data"] },
    ),
    ({ data, etags: versions }) => ({ count: data.length, etags: versions }),
  );

const byWhere = (plan: RecordPlan, entity: Entity) =>
  object(
    {
      where: bulkWhere(plan.read),
      set: setOf(plan, entity),
      expect: expected(entity),
      mode: bulkMode,
      ...bulkMembers,
    },
    { required: ["where", "set", "expect"] },
  );

/** Fields that all records get; the key is not one of them. */
const setOf = (plan: RecordPlan, entity: Entity): Grammar<Record<string, unknown>> => {
  const { key } = plan.write;
  const fields = changedFields(plan, entity);
  return meaning({ ...whatever, ...fields, read: (sent) => sent }, (sent) => {
    if (!isObject(sent) || Object.keys(sent).length === 0)
      throw invalidPayload("set must be an object with at least one field to change");
    if (key.some(({ name }) => Object.hasOwn(sent, name)))
      throw invalidPayload(`set must not have the primary key ${keyNames(key)}`);
    return sent;
  });
};

type Call = CallOf<ByKey | ByWhere>;

/** How records are written: together, or one by one if a handler has to see each. */
interface Writing {
  readonly call: Call;
  readonly plan: RecordPlan;
  readonly isOneByOne: boolean;
}

/** A record to change. `changes` null: a handler can still change the body. */
interface Item {
  readonly key: KeyValue;
  readonly body: Record<string, unknown>;
  readonly changes: readonly Assignment[] | null;
}

const writingOf = (call: Call, plan: RecordPlan, options: Record<string, unknown>): Writing => ({
  call: { ...call, options },
  plan,
  isOneByOne: hasHandlers(call.entity, "onBeforeUpdate", "onAfterUpdate"),
});

async function store(
  items: readonly Item[],
  { call, plan, isOneByOne }: Writing,
  tx: Transaction,
): Promise<readonly Done[]> {
  if (!isOneByOne)
    return changeSet(
      items.map(({ key, changes }) => ({ key, changes: changes! })),
      { call, plan },
      tx,
    );
  const done: Done[] = [];
  for (const { key, body } of items) {
    const asked = { ...call, body };
    done.push(doneOf(await changeWork(asked, plan, updateOf(asked, plan, key)).run(tx)));
  }
  return done;
}

async function beginByKey(call: Call, plan: RecordPlan, input: ByKey): Promise<Write> {
  const { data, mode, etags: versions, options } = input;
  const { entity } = call;
  const { key, shown } = plan.write;
  const writing = writingOf(call, plan, options);
  const isOpen = hasHandlers(entity, "onBeforeUpdate");
  const outcomes = new Outcomes({
    mode,
    count: data.length,
    isKnown: (index, name) => isNamed(name, data[index]!, plan.write),
  });
  const checked = keyedItems(data, { key, etags: versions }, outcomes).flatMap((item) =>
    outcomes.accepted(item.index, () => ({
      ...item,
      changes: isOpen ? null : updatesIn({ ...call, body: item.body }, plan),
    })),
  );
  outcomes.refuseCollected();
  const items = await guardItems(call, plan, { items: checked, outcomes });
  const columns = [...shown.values()];
  return {
    isOneStatement: false,
    async run(tx) {
      const own = outcomes.again();
      const locked: (Item & LockedItem)[] = await lockItems(tx, {
        call,
        plan,
        items,
        outcomes: own,
        columns,
      });
      own.refuseCollected();
      await storeParts(tx, locked, {
        outcomes: own,
        isOneByOne: writing.isOneByOne,
        store: (some) => store(some, writing, tx),
      });
      return own.answer({ message: messageOf(entity), status: 200 });
    },
  };
}

async function beginByWhere(call: Call, plan: RecordPlan, input: ByWhere): Promise<Write> {
  const { where, set, mode, expect, options } = input;
  const { key, shown } = plan.write;
  const writing = writingOf(call, plan, options);
  const isOpen = hasHandlers(call.entity, "onBeforeUpdate");
  const changes = isOpen ? null : updatesIn({ ...call, body: set }, plan);
  return beginMatching(call, plan, {
    where,
    expect,
    mode,
    columns: [...shown.values()],
    itemOf({ key: value, row }) {
      const own: Row = Object.fromEntries(key.map(({ name }) => [name, row[name] ?? null]));
      return { key: value, row, body: { ...own, ...set }, changes };
    },
    isOneByOne: writing.isOneByOne,
    store: (some, tx) => store(some, writing, tx),
    isKnown: (name) => isNamed(name, set, plan.write),
    message: messageOf(call.entity),
    hasEtags: true,
  });
}

const messageOf = ({ name }: Entity): string => `${name} data successfully updated`;
