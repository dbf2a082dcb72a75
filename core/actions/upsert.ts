/** upsert: stores records that are new, and changes those that exist, in one transaction. */
import { type CallOf, defineAction, type Write } from "../calls/action.ts";
import { asSent, choice, type Grammar, meaning, type Meaning, object } from "../grammar/grammar.ts";
import type { Entity } from "../plans/entity.ts";
import { actorsOf } from "../plans/audit-columns.ts";
import type { Transaction } from "../query/session.ts";
import type { Assignment } from "../query/statement.ts";
import { AppError } from "../values/errors.ts";
import { isObject } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import type { Scalar } from "../values/scalar.ts";
import type { Column } from "../values/types/column.ts";
import { keyText } from "../values/types/key.ts";
import { guardItems } from "../records/bulk-keys.ts";
import { type Done, doneOf, Outcomes, storeParts } from "../records/bulk-outcomes.ts";
import {
  bulkForm,
  bulkMembers,
  bulkMode,
  recordList,
  stepFaultOf,
} from "../records/bulk-request.ts";
import { updatesIn, changeSet, updateOf } from "../records/changed-record.ts";
import { hasHandlers } from "../records/events.ts";
import { beginCreate, createSet } from "../records/new-record.ts";
import { parentsFirst } from "../records/parents-first.ts";
import {
  actorMembers,
  notARecord,
  recordColumns,
  recordMembers,
} from "../records/record-grammar.ts";
import { changeWork, isNamed, newValues, recordPlan, type RecordPlan } from "../records/record.ts";
import { recordAnswerSchema } from "../records/record-schema.ts";
import { upsertBy, type UpsertBy, upsertChoices } from "../records/upsert-by.ts";
import {
  divide,
  type FoundItem,
  keysOfFound,
  LostRace,
  type UpsertItem,
  upsertItems,
  whyTaken,
} from "../records/upsert-rows.ts";

/** What upsert needs. */
interface UpsertPlan extends RecordPlan {
  readonly choices: readonly UpsertBy[];
}

type Asked = Meaning<ReturnType<typeof grammar>>;

export const upsert = defineAction<UpsertPlan, Asked>({
  name: "upsert",
  summary: "Stores records that are new, and changes those that exist.",
  mode: "writes",
  methods: ["POST"],
  requires: ["key", "inserts", "updates", "auditColumns", "transactions"],
  headers: ["X-Lock-Token", "Idempotency-Key"],
  events: ["onBeforeInsert", "onAfterInsert", "onBeforeUpdate", "onAfterUpdate"],
  errors: [
    "invalidParameter",
    "validationFailed",
    "foreignKeyMissing",
    "duplicateEntry",
    "constraintViolation",
    "foreignKeyInUse",
  ],
  sees: "active",
  takesDryRun: true,
  stepFault: stepFaultOf,
  needs(entity) {
    const plan = recordPlan(entity);
    return plan && { ...plan, choices: upsertChoices(plan) };
  },
  grammar: (plan, { entity }) => grammar(plan, entity),
  answer: (plan, { entity }) =>
    bulkForm({
      entity,
      record: recordAnswerSchema(plan, entity),
      done: "stored",
      status: 200,
      hasEtags: true,
      isUpsert: true,
    }),
  begin: (call, plan) => begin(call, plan),
});

const grammar = (plan: UpsertPlan, entity: Entity) =>
  object(
    { data: records(plan, entity), by: upsertBy(plan.choices), mode: bulkMode, ...bulkMembers },
    { required: ["data"] },
  );

/** A list of records, or one. Whether a record has what it needs depends on whether it exists. */
function records(plan: UpsertPlan, entity: Entity): Grammar<Record<string, unknown>[]> {
  const record = asSent(() => {
    const columns = recordColumns(plan, entity);
    const actors = actorMembers(
      actorsOf(plan.write.audit, "update"),
      plan.write.shown,
      entity.rules,
    );
    return object({ ...recordMembers(columns, "create"), ...actors });
  }, notARecord);
  const many = recordList("data", record, entity);
  const one = meaning(record, (sent) => [sent]);
  return choice([many, one], (sent) => (isObject(sent) ? one : many));
}

/** A new record. `values` null: a handler can still change it. */
interface NewItem extends UpsertItem {
  readonly kind: "new";
  readonly values: ReadonlyMap<Column, Scalar> | null;
}

/** A record that exists. `changes` null: a handler can still change the body. */
interface ChangedItem extends FoundItem {
  readonly kind: "changed";
  readonly changes: readonly Assignment[] | null;
}

type Item = NewItem | ChangedItem;

interface Upserting {
  readonly call: CallOf<Asked>;
  readonly plan: UpsertPlan;
  readonly outcomes: Outcomes;
}

async function begin(call: CallOf<Asked>, plan: UpsertPlan): Promise<Write> {
  const { entity } = call;
  const { data, by, mode, options } = call.input;
  const asked = { ...call, options };
  const checks = new Outcomes({
    mode,
    count: data.length,
    isKnown: (index, name) => isNamed(name, data[index]!, plan.write),
  });
  const items = upsertItems(data, { call, plan, by, outcomes: checks });
  let guarded = await guardFound(call, items, { plan, by, outcomes: checks });
  const isOneByOne = upsert.events.some((event) => hasHandlers(entity, event));
  const columns = [...plan.write.shown.values()];
  let tries = 0;
  const work: Write = {
    isOneStatement: false,
    async run(tx) {
      const outcomes = checks.again();
      const upserting = { call: asked, plan, outcomes };
      const open = items.filter(({ index }) => !outcomes.isRefused(index));
      const divided = await divide(tx, open, { ...upserting, by, columns });
      // One that was stored after the locks were taken. Its lock is taken before the next transaction: its owner may
      // need a connection, and the rows that this one has locked.
      if (divided.found.some(({ key }) => guarded?.has(keyText(key)) === false))
        throw new LostRace();
      const checked = [
        ...divided.found.flatMap((item) => changed(item, upserting)),
        ...divided.fresh.flatMap((item) => added(item, upserting)),
      ].filter(({ index }) => !outcomes.isRefused(index));
      outcomes.refuseCollected();
      const inOrder = checked.toSorted((a, b) => a.index - b.index);
      await storeParts<Item>(tx, inOrder, {
        outcomes,
        isOneByOne,
        store: (some) =>
          isOneByOne ? storeOne(some[0]!, upserting, tx) : storeSet(some, upserting, tx),
        async onRefusal({ kind }, some) {
          const fresh = some.filter((item) => item.kind === "new");
          const asking = { plan, by, outcomes, found: divided.found };
          return kind === "duplicateEntry" ? whyTaken(tx, fresh, asking) : null;
        },
      });
      return outcomes.answer({ message: `${entity.name} data successfully stored`, status: 200 });
    },
    async instead(failure) {
      if (!(failure instanceof LostRace) || ++tries >= limits.upsertTriesMax) return null;
      guarded = await guardFound(call, items, { plan, by, outcomes: checks });
      return work;
    },
  };
  return work;
}

/** Takes the locks of the records that exist; the keys, or null if no locks are needed. */
async function guardFound(
  call: CallOf<Asked>,
  asked: readonly UpsertItem[],
  { plan, by, outcomes }: { plan: UpsertPlan; by: UpsertBy; outcomes: Outcomes },
): Promise<ReadonlySet<string> | null> {
  if (!call.locks.guardsWrites) return null;
  for (let tries = 1; ; tries++) {
    const items = await keysOfFound(call.session, asked, { plan, by });
    try {
      await guardItems(call, plan, {
        items,
        outcomes: {
          refuse(index, error) {
            if (isGone(error)) throw error;
            outcomes.refuse(index, error);
          },
        },
      });
      return new Set(items.map(({ key }) => keyText(key)));
    } catch (error) {
      if (!isGone(error)) throw error;
      if (tries >= limits.upsertTriesMax) throw new LostRace();
    }
  }
}

/** Another request has removed a record that was found just before: it is looked for again. */
const isGone = (error: unknown): boolean => error instanceof AppError && error.kind === "notFound";

/** The record with what changes of it; nothing if it is refused. */
function changed(item: FoundItem, { call, plan, outcomes }: Upserting): ChangedItem[] {
  const own = plan.write.key.map(({ name }) => [name, item.row[name] ?? null] as const);
  const body = { ...item.body, ...Object.fromEntries(own) };
  const changes = (): readonly Assignment[] | null =>
    hasHandlers(call.entity, "onBeforeUpdate") ? null : updatesIn({ ...call, body }, plan);
  return outcomes.accepted(item.index, () => {
    if (!call.mayAlso("update")) throw mayNot("change", item);
    return { ...item, body, kind: "changed", changes: changes() };
  });
}

/** The same for a record that is new. */
function added(item: UpsertItem, { call, plan, outcomes }: Upserting): NewItem[] {
  const { index, body } = item;
  return outcomes.accepted(index, () => {
    if (!call.mayAlso("create")) throw mayNot("create", item);
    const isOpen = hasHandlers(call.entity, "onBeforeInsert");
    return { ...item, kind: "new", values: isOpen ? null : newValues({ ...call, body }, plan) };
  });
}

const mayNot = (what: "create" | "change", { index }: UpsertItem): AppError =>
  new AppError("forbidden", `You may not ${what} records, as record [${index}] would`);

async function storeOne(item: Item, { call, plan }: Upserting, tx: Transaction): Promise<Done[]> {
  const asked = { ...call, body: item.body };
  const work =
    item.kind === "new"
      ? beginCreate(asked, plan)
      : changeWork(asked, plan, updateOf(asked, plan, item.key));
  return [{ ...doneOf(await work.run(tx)), created: item.kind === "new" }];
}

/** Changes first, then the new ones in the order of what they are found by, so that requests do not block each other. */
async function storeSet(
  items: readonly Item[],
  { call, plan }: Upserting,
  tx: Transaction,
): Promise<Done[]> {
  const old = items.filter((item) => item.kind === "changed");
  const news = items
    .filter((item) => item.kind === "new")
    .toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
  const done = new Map<Item, Done>();
  const change = async (): Promise<void> => {
    const changes = old.map((item) => ({ key: item.key, changes: item.changes! }));
    const stored = old.length === 0 ? [] : await changeSet(changes, { call, plan }, tx);
    for (const [at, one] of stored.entries()) done.set(old[at]!, { ...one, created: false });
  };
  const create = async (): Promise<void> => {
    const values = news.map((item) => ({ values: item.values! }));
    const stored = news.length === 0 ? [] : await createSet(values, plan, tx);
    for (const [at, one] of stored.entries()) done.set(news[at]!, { ...one, created: true });
  };
  // A new record may get a value that a changed one gives up, and a changed one may refer to a new one.
  const isMixed = old.length > 0 && news.length > 0;
  const works = isMixed && refersToNew(items, plan) ? [create, change] : [change, create];
  for (const work of works) await work();
  return items.map((item) => done.get(item)!);
}

function refersToNew(items: readonly Item[], { write: { table, key } }: UpsertPlan): boolean {
  const records = items.map((item) => {
    if (item.kind === "new") return { values: item.values! };
    const set = item.changes!.flatMap((one) =>
      one.kind === "set" ? [[one.column, one.value] as const] : [],
    );
    const own = key.map((column, at) => [column, item.key[at]!] as const);
    return { values: new Map([...own, ...set]) };
  });
  const { parents } = parentsFirst(records, table) ?? { parents: [] };
  return parents.some(
    (some, place) =>
      items[place]!.kind === "changed" && some.some((parent) => items[parent]!.kind === "new"),
  );
}

const textOf = ({ byValues, index }: NewItem): string =>
  byValues === null ? String(index) : keyText(byValues);
