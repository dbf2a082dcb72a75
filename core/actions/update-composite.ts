/**
 * update-composite: changes a header and its details in one transaction, always in this order: delete, update and
 * insert details, compute, change the header. The header is locked at the beginning, so that two changes of one
 * document run one after the other.
 */
import { type Call, defineAction } from "../calls/action.ts";
import {
  atOneTime,
  type ChangedDetail,
  type NamedDetail,
  changedDetail,
  type CompositeNeeds,
  type NewDetail,
  newDetail,
} from "../documents/composite.ts";
import {
  aboutDocument,
  deleteDetails,
  type DetailScope,
  headerKeyFor,
  insertDetails,
  placingRefusals,
  updateDetails,
} from "../documents/detail-writes.ts";
import type { DetailPlan } from "../plans/composite-plan.ts";
import {
  collectingErrors,
  type FieldErrors,
  invalidPayload,
  noSuchRecord,
  validationFailed,
} from "../values/errors.ts";
import { etagOf } from "../records/etag.ts";
import { isChange, settingAll } from "../records/changed-record.ts";
import { hasHandlers, runAfter, runBefore } from "../records/events.ts";
import { keyAsJson } from "../records/replay.ts";
import { past } from "../callers/scoped-session.ts";
import type { Queries } from "../query/session.ts";
import { keptOnce, recount } from "../totals/kept-session.ts";
import type { Row } from "../values/row.ts";
import { lockRecord, readBack, updateAudit } from "../records/record.ts";
import { rowOf } from "../query/key-conditions.ts";
import { keyText, type KeyValue } from "../values/types/key.ts";
import type { Assignment } from "../query/statement.ts";
import {
  changedDocument,
  changedDocumentNeeds,
  type ChangedLines,
  type DocumentNeeds,
  type SentDocument,
} from "../documents/composite-grammar.ts";
import { updatedCompositeSchema } from "../documents/composite-schema.ts";

type Needs = DocumentNeeds<ChangedLines>;

/** The checked changes of one detail table. */
interface DetailChanges {
  readonly detail: DetailPlan;
  readonly deletes: readonly NamedDetail[];
  readonly updates: readonly ChangedDetail[];
  readonly inserts: readonly NewDetail[];
}

/** A checked body. */
interface CompositeChanges {
  readonly header: readonly Assignment[];
  readonly details: readonly DetailChanges[];
}

export const updateComposite = defineAction<
  Needs,
  SentDocument<ChangedLines> & { readonly keyValue: KeyValue }
>({
  name: "update-composite",
  summary: "Changes a header and its details, all or nothing.",
  mode: "writes",
  methods: ["POST"],
  requires: ["key", "updates", "masterDetail", "transactions"],
  headers: ["If-Match", "X-Lock-Token"],
  events: ["onBeforeUpdate", "onAfterUpdate"],
  errors: [
    "validationFailed",
    "foreignKeyMissing",
    "duplicateEntry",
    "constraintViolation",
    "foreignKeyInUse",
  ],
  takesOptions: true,
  needs: changedDocumentNeeds,
  grammar: (plan, { entity }) => changedDocument(plan, entity),
  answer: (plan, { entity }) => ({
    status: 200,
    schema: updatedCompositeSchema(plan, entity),
    hasEtag: true,
  }),

  async begin(given, plan) {
    const call = atOneTime(given);
    const { entity, input } = call;
    const { sent, keyValue } = input;
    // An invalid body is refused before anything is locked, unless a handler could still correct it.
    const ready = hasHandlers(entity, "onBeforeUpdate") ? null : changesOf(call, plan, input);
    await call.locks.guardWrite(plan.write, [keyValue]);
    return placingRefusals(async (tx, oneByOne) => {
      const oldRecord = await lockRecord(call, plan, keyValue, tx);
      const data = await runBefore(call, tx, { event: "onBeforeUpdate", data: sent, oldRecord });
      const changes = ready ?? changesOf(call, plan, { sent: data, lines: plan.lines.read(data) });
      const record = await change(plan, { call, changes, keyValue, oldRecord, tx, oneByOne });
      if (!record) throw noSuchRecord(entity);
      await runAfter(call, tx, { event: "onAfterUpdate", data, oldRecord, record });
      const message = `${entity.name} data successfully updated`;
      const shown = { ...record, _operations: countsOf(changes) };
      const [etag, subject] = [etagOf(record, plan.read), keyAsJson(keyValue)];
      return { status: 200, body: { message, data: shown }, etag, subject };
    });
  },
});

function changesOf(
  call: Call,
  plan: CompositeNeeds,
  { sent, lines }: SentDocument<ChangedLines>,
): CompositeChanges {
  const { composite } = plan;
  const errors: FieldErrors = {};
  const checked = call.entity.rules.check(sent, "update", composite.writable);
  Object.assign(errors, checked.errors);
  const stamped = [...collectingErrors(errors, () => updateAudit(plan, { ...call, body: sent }))];
  const details = composite.details.map((detail, at): DetailChanges => {
    const { deletes, updates, inserts } = lines[at]!;
    const changes = {
      detail,
      deletes,
      updates: updates.map((one) => changedDetail(call, one, errors)),
      inserts: inserts.map((place) => newDetail(call, place, { actor: null, errors })),
    };
    checkOnce(changes);
    return changes;
  });
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
  // A header is changed by its lines, too.
  const isChanged = isChange(sent, checked.values, plan.write.audit) || details.some(hasChanges);
  return { header: isChanged ? [...settingAll(checked.values), ...stamped] : [], details };
}

const hasChanges = ({ deletes, updates, inserts }: DetailChanges): boolean =>
  deletes.length + inserts.length > 0 || updates.some(({ set }) => set.length > 0);

/** A detail that is named twice would be changed twice, or changed and deleted. */
function checkOnce({ detail, deletes, updates }: DetailChanges): void {
  const keys = [...deletes, ...updates].map(({ keyValue }) => keyText(keyValue));
  if (new Set(keys).size < keys.length)
    throw invalidPayload(
      `${detail.table.name} contains the same record twice in update and delete`,
    );
}

interface Change extends Pick<DetailScope, "tx" | "oneByOne"> {
  readonly call: Call;
  readonly changes: CompositeChanges;
  readonly keyValue: KeyValue;
  readonly oldRecord: Row;
}

async function change(
  plan: CompositeNeeds,
  { call, changes, keyValue, oldRecord, tx, oneByOne }: Change,
): Promise<Row | null> {
  // The database may store the key in another form than it was sent. Details get the stored form.
  const [header] = plan.write.key;
  const shownKey = oldRecord[header?.name ?? ""] ?? String(keyValue[0]);
  const details = changes.details.map((one) => ({
    ...one,
    scope: {
      tx: past(tx, "writtenLines"),
      oneByOne,
      headerKey: headerKeyFor(one.detail, shownKey),
    },
  }));
  await keptOnce(
    tx,
    async () => {
      for (const { detail, deletes, scope } of details)
        await deleteDetails(detail, deletes, { ...scope, call });
      for (const { updates, scope } of details) await updateDetails(updates, scope);
      for (const { detail, inserts, scope } of details) await insertDetails(detail, inserts, scope);
      recount(tx, plan.write.table, shownKey);
    },
    aboutDocument(plan),
  );
  const row = await changeHeader(plan, keyValue, { set: changes.header, tx });
  return row && readBack(row, plan, tx);
}

function changeHeader(
  { write: { table, key, shown, writable } }: CompositeNeeds,
  keyValue: KeyValue,
  { set: sent, tx }: { set: readonly Assignment[]; tx: Queries },
): Promise<Row | null> {
  const returning = [...shown.values()];
  const [column] = writable.values();
  // A closed record is refused where it is written, so what changes nothing is written as it is.
  const set: readonly Assignment[] =
    sent.length === 0 && column ? [{ kind: "keep", column }] : sent;
  if (set.length > 0)
    return tx.updateOne({ kind: "update", table, key, keyValue, guard: null, set, returning });
  return tx.one(rowOf({ table, key, keyValue }, returning));
}

function countsOf({ details }: CompositeChanges) {
  const count = (list: "deletes" | "updates" | "inserts"): number =>
    details.reduce((sum, changes) => sum + changes[list].length, 0);
  return { deleted: count("deletes"), updated: count("updates"), inserted: count("inserts") };
}
