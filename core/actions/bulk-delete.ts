/** bulk-delete: deletes, or marks, many records in one transaction, named by their keys or by a condition. */
import { type CallOf, defineAction, type Write } from "../calls/action.ts";
import { type Grammar, type Meaning, object, recursive } from "../grammar/grammar.ts";
import type { Entity } from "../plans/entity.ts";
import type { Transaction } from "../query/session.ts";
import { invalidPayload } from "../values/errors.ts";
import { isObject } from "../values/json.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import type { Row } from "../values/row.ts";
import type { KeyValue } from "../values/types/key.ts";
import { comparedSchema } from "../values/types/schemas.ts";
import { recordSchema } from "../lists/shown-schema.ts";
import { guardItems, keyedItems, lockItems } from "../records/bulk-keys.ts";
import { type Done, Outcomes, storeParts } from "../records/bulk-outcomes.ts";
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
import { hasHandlers } from "../records/events.ts";
import { deleterOf } from "../records/mark.ts";
import { shownOf } from "../records/matching.ts";
import { actorMembers, keyMembers, namesOf } from "../records/record-grammar.ts";
import { isNamed } from "../records/record.ts";
import { deletePlan, type DeletePlan, removedColumns, removeRows } from "../records/remove-rows.ts";

type ByKey = Meaning<ReturnType<typeof byKey>>;
type ByWhere = Meaning<ReturnType<typeof byWhere>>;

export const bulkDelete = defineAction<DeletePlan, ByKey | ByWhere>({
  name: "bulk-delete",
  summary: "Removes many records.",
  mode: "writes",
  methods: ["POST"],
  requires: ["key", "deletes", "transactions"],
  headers: ["X-Lock-Token", "Idempotency-Key"],
  events: ["onBeforeDelete", "onAfterDelete"],
  errors: [
    "invalidField",
    "invalidParameter",
    "validationFailed",
    "foreignKeyInUse",
    "preconditionFailed",
    "unexpectedCount",
  ],
  sees: "active",
  takesDryRun: true,
  stepFault: stepFaultOf,
  needs(entity) {
    const plan = deletePlan(entity);
    return plan?.write.namesRecords ? plan : null;
  },
  grammar: (plan, { entity }) => keyedOr("keys", byKey(plan, entity), byWhere(plan, entity)),
  answer: ({ write: { shown } }, { entity }) =>
    bulkForm({
      entity,
      record: recordSchema(shown, entity.settings),
      done: "deleted",
      status: 200,
      hasEtags: false,
    }),
  async begin(call, plan) {
    if (plan.marking) deleterOf(plan.marking, call);
    return "keys" in call.input
      ? beginByKey(call, plan, call.input)
      : beginByWhere(call, plan, call.input);
  },
});

const deleterMembers = ({ marking, write: { shown } }: DeletePlan, { rules }: Entity) => {
  const by = marking?.marks.by ?? null;
  return actorMembers(by ? [by] : [], shown, rules);
};

const byKey = (plan: DeletePlan, entity: Entity) =>
  withEtags(
    object(
      {
        keys: recordList("keys", namedKey(plan), entity),
        etags: etags(entity),
        mode: bulkMode,
        ...bulkMembers,
        ...deleterMembers(plan, entity),
      },
      { required: ["keys"] },
    ),
    ({ keys, etags: versions }) => ({ count: keys.length, etags: versions }),
  );

const byWhere = (plan: DeletePlan, entity: Entity) =>
  object(
    {
      where: bulkWhere(plan.read),
      expect: expected(entity),
      mode: bulkMode,
      ...bulkMembers,
      ...deleterMembers(plan, entity),
    },
    { required: ["where", "expect"] },
  );

/** A key as an object; of a key of one column the value too. */
function namedKey({ write: { key } }: DeletePlan): Grammar<Record<string, unknown>> {
  const whole = recursive(() => object(keyMembers(key), { required: namesOf(key) }));
  const [only] = key.length === 1 ? key : [];
  const schema = (): JsonSchema =>
    only === undefined
      ? whole.schema()
      : { anyOf: [whole.schema(), { ...comparedSchema(only), minLength: 1 }] };
  return {
    schema,
    read(sent, index = 0) {
      if (isObject(sent)) return sent;
      if (only !== undefined && !Array.isArray(sent)) return { [only.name]: sent };
      throw invalidPayload(`keys[${index}] must be an object with the primary key`);
    },
    unknownIn: (sent, path) => (isObject(sent) ? (whole.unknownIn?.(sent, path) ?? []) : []),
  };
}

type Call = CallOf<ByKey | ByWhere>;

interface Item {
  readonly key: KeyValue;
  readonly row: Row;
}

/** Removes the rows together, or one by one if a handler has to see each. */
async function remove(
  items: readonly Item[],
  { call, plan }: { call: Call; plan: DeletePlan },
  tx: Transaction,
): Promise<readonly Done[]> {
  const isOneByOne = isWatched(call.entity);
  const parts = isOneByOne ? items.map((item) => [item]) : [items];
  for (const some of parts) {
    const [first] = some;
    if (first === undefined) continue;
    const pairs = plan.write.key.map(({ name }) => ({ key: name, value: first.row[name] ?? null }));
    const rows = some.map(({ row }) => row);
    await removeRows(call, plan, { rows, data: { where: pairs }, tx });
  }
  return items.map(({ row }) => ({ record: shownOf(row, plan), etag: null, subject: null }));
}

const isWatched = (entity: Entity): boolean =>
  hasHandlers(entity, "onBeforeDelete", "onAfterDelete");

async function beginByKey(call: Call, plan: DeletePlan, input: ByKey): Promise<Write> {
  const { keys, mode, etags: versions, options } = input;
  const { entity } = call;
  const { key } = plan.write;
  const asked = { ...call, options };
  const outcomes = new Outcomes({
    mode,
    count: keys.length,
    isKnown: (index, name) => isNamed(name, keys[index]!, plan.write),
  });
  const named = keyedItems(keys, { key, etags: versions }, outcomes);
  outcomes.refuseCollected();
  const items = await guardItems(call, plan, { items: named, outcomes });
  const columns = removedColumns(plan);
  return {
    isOneStatement: false,
    async run(tx) {
      const own = outcomes.again();
      const locked = await lockItems(tx, { call, plan, items, outcomes: own, columns });
      own.refuseCollected();
      await storeParts(tx, locked, {
        outcomes: own,
        isOneByOne: isWatched(entity),
        store: (some) => remove(some, { call: asked, plan }, tx),
      });
      return own.answer({ message: messageOf(entity), status: 200 });
    },
  };
}

function beginByWhere(call: Call, plan: DeletePlan, input: ByWhere): Promise<Write> {
  const { where, mode, expect, options } = input;
  const asked = { ...call, options };
  return beginMatching(call, plan, {
    where,
    expect,
    mode,
    columns: removedColumns(plan),
    itemOf: (matched) => matched,
    isOneByOne: isWatched(call.entity),
    store: (some, tx) => remove(some, { call: asked, plan }, tx),
    isKnown: (name) => plan.write.shown.has(name),
    message: messageOf(call.entity),
    hasEtags: false,
  });
}

const messageOf = ({ name }: Entity): string => `${name} data successfully deleted`;
