/** bulk-create: stores many records in one transaction, all of them or each for itself. */
import { type CallOf, defineAction, type Write } from "../calls/action.ts";
import { type Meaning, object } from "../grammar/grammar.ts";
import type { Entity } from "../plans/entity.ts";
import type { Scalar } from "../values/scalar.ts";
import type { Column } from "../values/types/column.ts";
import type { KeyValue } from "../values/types/key.ts";
import { refuseRepeated } from "../records/bulk-keys.ts";
import { doneOf, Outcomes, storeParts } from "../records/bulk-outcomes.ts";
import {
  bulkForm,
  bulkMembers,
  bulkMode,
  recordList,
  stepFaultOf,
} from "../records/bulk-request.ts";
import { hasHandlers } from "../records/events.ts";
import { beginCreate, createSet } from "../records/new-record.ts";
import { newRecord } from "../records/record-grammar.ts";
import { isNamed, type InsertingPlan, newValues } from "../records/record.ts";
import { recordAnswerSchema } from "../records/record-schema.ts";

type Asked = Meaning<ReturnType<typeof grammar>>;

export const bulkCreate = defineAction<InsertingPlan, Asked>({
  name: "bulk-create",
  summary: "Stores many records.",
  mode: "writes",
  methods: ["POST"],
  requires: ["table", "inserts", "auditColumns", "transactions"],
  headers: ["Idempotency-Key"],
  events: ["onBeforeInsert", "onAfterInsert"],
  errors: ["validationFailed", "foreignKeyMissing", "duplicateEntry", "constraintViolation"],
  sees: "active",
  takesDryRun: true,
  stepFault: stepFaultOf,

  needs({ insert, read }) {
    return insert && read && { write: insert, read };
  },
  grammar: (plan, { entity }) => grammar(plan, entity),
  answer: (plan, { entity }) =>
    bulkForm({
      entity,
      record: recordAnswerSchema(plan, entity),
      done: "added",
      status: 201,
      hasEtags: true,
    }),
  begin: (call, plan) => begin(call, plan),
});

const grammar = (plan: InsertingPlan, entity: Entity) =>
  object(
    { data: recordList("data", newRecord(plan, entity), entity), mode: bulkMode, ...bulkMembers },
    { required: ["data"] },
  );

/** A record that the rules accept. */
interface Item {
  readonly index: number;
  readonly body: Record<string, unknown>;
  /** Null: a handler can still change it. */
  readonly values: ReadonlyMap<Column, Scalar> | null;
}

function begin(call: CallOf<Asked>, plan: InsertingPlan): Write {
  const { entity, newId, now, caller, fills } = call;
  const { data, mode, options } = call.input;
  const outcomes = new Outcomes({
    mode,
    count: data.length,
    isKnown: (index, name) => isNamed(name, data[index]!, plan.write),
  });
  const isOneByOne = hasHandlers(entity, "onBeforeInsert", "onAfterInsert");
  const isOpen = hasHandlers(entity, "onBeforeInsert");
  const { key } = plan.write;
  const isNew = refuseRepeated(key, outcomes);
  const items = data.flatMap((body, index): Item[] => {
    if (isOpen) return [{ index, body, values: null }];
    return outcomes.accepted(index, () => {
      const values = newValues({ entity, body, newId, now, caller, fills }, plan);
      const own = wholeKey(key.map((column) => values.get(column)));
      return own !== null && !isNew(index, own) ? null : { index, body, values };
    });
  });
  outcomes.refuseCollected();
  const message = `${entity.name} data successfully added`;
  return {
    isOneStatement: false,
    async run(tx) {
      const own = outcomes.again();
      const isNewHere = refuseRepeated(key, own);
      await storeParts(tx, items, {
        outcomes: own,
        isOneByOne,
        async store(some) {
          if (!isOneByOne)
            return createSet(
              some.map(({ values }) => ({ values: values! })),
              plan,
              tx,
            );
          const [{ index, body }] = some as [Item];
          const work = beginCreate({ ...call, body, options }, plan, ({ columns, rows: [row] }) => {
            const stored = wholeKey(key.map((column) => row![columns.indexOf(column)]));
            if (stored !== null && !isNewHere(index, stored)) throw own.refusalOf(index)!;
          });
          return [doneOf(await work.run(tx))];
        },
      });
      return own.answer({ message, status: 201 });
    },
  };
}

/** Null where the database fills the key, or there is none. */
const wholeKey = (values: readonly (Scalar | undefined)[]): KeyValue | null =>
  values.length > 0 && values.every((value) => value !== undefined) ? values : null;
