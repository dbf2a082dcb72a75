/**
 * update-composite: changes a header and its details in one transaction, always in this order: delete, update and
 * insert details, compute, change the header. The header is locked at the beginning, so that two changes of one
 * document run one after the other.
 */
import { type Call, defineAction } from "../calls/action.ts";
import {
  atOneTime,
  type ChangedDetail,
  changedDetail,
  checkCount,
  type CompositeNeeds,
  compositeNeeds,
  detailKey,
  detailsIn,
  headerOf,
  type NewDetail,
  newDetail,
  linesOf,
  collectingErrors,
} from "../documents/composite.ts";
import type { Place } from "../documents/detail-errors.ts";
import {
  computeDetails,
  deleteDetails,
  type DetailScope,
  headerKeyFor,
  insertDetails,
  placingRefusals,
  totalsOf,
  updateDetails,
} from "../documents/detail-writes.ts";
import type { DetailPlan } from "../plans/entity.ts";
import {
  type FieldErrors,
  invalidPayload,
  noSuchRecord,
  validationFailed,
} from "../values/errors.ts";
import { etagOf } from "../records/etag.ts";
import { hasHandlers, runAfter, runBefore } from "../records/events.ts";
import { isObject } from "../values/json.ts";
import { past } from "../callers/scoped-session.ts";
import type { Queries } from "../callers/session.ts";
import type { Row } from "../plans/ports.ts";
import { keyOf } from "../records/record-key.ts";
import { lockRecord, readBack, updateAudit } from "../records/record.ts";

import { keyIs } from "../query/key-conditions.ts";
import { keyText, type KeyValue } from "../values/key.ts";
import { type Assignment, sourceOf } from "../query/statement.ts";
import { updateCompositeSchema, updatedCompositeSchema } from "../documents/composite-schema.ts";

/** The checked changes of one detail table. */
interface DetailChanges {
  readonly detail: DetailPlan;
  readonly deletes: readonly KeyValue[];
  readonly updates: readonly ChangedDetail[];
  readonly inserts: readonly NewDetail[];
}

/** A checked body. */
interface CompositeChanges {
  readonly header: readonly Assignment[];
  readonly details: readonly DetailChanges[];
}

export const updateComposite = defineAction<CompositeNeeds>({
  name: "update-composite",
  summary: "Changes a header and its details, all or nothing.",
  mode: "writes",
  methods: ["POST"],
  requires: ["key", "updates", "masterDetail", "transactions"],
  headers: ["If-Match", "X-Lock-Token"],
  events: ["onBeforeUpdate", "onAfterUpdate"],
  errors: ["validationFailed", "foreignKeyMissing", "duplicateEntry", "foreignKeyInUse"],
  takesOptions: true,
  takesEmptyBody: false,
  needs: compositeNeeds,
  input: (plan, { entity }) => updateCompositeSchema(plan, entity),
  answer: (plan, { entity }) => ({
    status: 200,
    schema: updatedCompositeSchema(plan, entity),
    hasEtag: true,
  }),

  async begin(given, plan) {
    const call = atOneTime(given);
    const { entity } = call;
    const sent = headerOf(call.body, plan);
    const keyValue = keyOf({ ...call, body: sent }, plan.write.key);
    // An invalid body is refused before anything is locked, unless a handler could still correct it.
    const ready = hasHandlers(entity, "onBeforeUpdate") ? null : changesOf(call, plan, sent);
    await call.locks.guardWrite(plan.write, [keyValue]);
    return placingRefusals(async (tx, oneByOne) => {
      const oldRecord = await lockRecord(call, plan, keyValue, tx);
      const data = await runBefore(call, tx, { event: "onBeforeUpdate", data: sent, oldRecord });
      const changes = ready ?? changesOf(call, plan, data);
      const record = await change(plan, { call, changes, keyValue, oldRecord, tx, oneByOne });
      if (!record) throw noSuchRecord(entity);
      await runAfter(call, tx, { event: "onAfterUpdate", data, oldRecord, record });
      const message = `${entity.name} data successfully updated`;
      const shown = { ...record, _operations: countsOf(changes) };
      return { status: 200, body: { message, data: shown }, etag: etagOf(record, plan.read) };
    });
  },
});

function changesOf(
  call: Call,
  plan: CompositeNeeds,
  sent: Record<string, unknown>,
): CompositeChanges {
  const { composite } = plan;
  const lists = composite.details.map((detail) => listsOf(sent, detail));
  checkCount(lists.flatMap((one) => Object.values(one).flat()).length);
  const errors: FieldErrors = {};
  const checked = call.entity.rules.check(sent, "update", composite.writable);
  Object.assign(errors, checked.errors);
  const header: Assignment[] = [...checked.values].map(([column, value]) => ({
    kind: "set",
    column,
    value,
  }));
  header.push(...collectingErrors(errors, () => updateAudit(plan, { ...call, body: sent })));
  const details = composite.details.map((detail, at): DetailChanges => {
    const { deletes, updates, inserts } = lists[at]!;
    const changes = {
      detail,
      deletes: deletes.map(detailKey),
      updates: updates.map((place) => changedDetail(call, place, errors)),
      inserts: inserts.map((place) => newDetail(call, place, { actor: null, errors })),
    };
    checkOnce(changes);
    return changes;
  });
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
  return { header, details };
}

interface Lists {
  readonly deletes: readonly Place[];
  readonly updates: readonly Place[];
  readonly inserts: readonly Place[];
}

function listsOf(header: Record<string, unknown>, detail: DetailPlan): Lists {
  const { name } = detail.table;
  const shape = `${name} must be an object with arrays of objects as insert, update and delete`;
  const sent = detailsIn(header, detail);
  if (sent === undefined) return { deletes: [], updates: [], inserts: [] };
  if (!isObject(sent)) throw invalidPayload(shape);
  for (const list of Object.keys(sent))
    if (!lists.includes(list))
      throw invalidPayload(`${shape}; it has ${JSON.stringify(list.slice(0, 100))}`);
  const itemsOf = (list: string): readonly unknown[] => {
    const items = Object.hasOwn(sent, list) ? sent[list] : [];
    if (!Array.isArray(items)) throw invalidPayload(shape);
    return items;
  };
  const saysList = itemsOf("insert").length > 0 && itemsOf("update").length > 0;
  return {
    deletes: linesOf(itemsOf("delete"), { detail, list: "delete", saysList }),
    updates: linesOf(itemsOf("update"), { detail, list: "update", saysList }),
    inserts: linesOf(itemsOf("insert"), { detail, list: "insert", saysList }),
  };
}

const lists: readonly string[] = ["insert", "update", "delete"];

/** A detail that is named twice would be changed twice, or changed and deleted. */
function checkOnce({ detail, deletes, updates }: DetailChanges): void {
  const keys = [...deletes, ...updates.map(({ keyValue }) => keyValue)].map(keyText);
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
      tx: past(tx, "details"),
      oneByOne,
      headerKey: headerKeyFor(one.detail, shownKey),
    },
  }));
  for (const { detail, deletes, scope } of details)
    await deleteDetails(detail, deletes, { ...scope, call });
  for (const { updates, scope } of details) await updateDetails(updates, scope);
  for (const { detail, inserts, scope } of details) await insertDetails(detail, inserts, scope);
  const set = [...changes.header];
  for (const { detail, scope } of details) {
    await computeDetails(detail, scope);
    set.push(...(await totalsOf(detail, scope)));
  }
  const row = await changeHeader(plan, keyValue, { set, tx });
  return row && readBack(row, plan, tx);
}

function changeHeader(
  { write: { table, key, shown } }: CompositeNeeds,
  keyValue: KeyValue,
  { set, tx }: { set: readonly Assignment[]; tx: Queries },
): Promise<Row | null> {
  const returning = [...shown.values()];
  if (set.length > 0)
    return tx.updateOne({ kind: "update", table, key, keyValue, guard: null, set, returning });
  const where = keyIs(key, keyValue);
  const source = sourceOf(table);
  const select = { kind: "select", source, columns: returning, where, sort: [] } as const;
  return tx.one({ ...select, limit: 1, offset: 0, lock: false });
}

function countsOf({ details }: CompositeChanges) {
  const count = (list: "deletes" | "updates" | "inserts"): number =>
    details.reduce((sum, changes) => sum + changes[list].length, 0);
  return { deleted: count("deletes"), updated: count("updates"), inserted: count("inserts") };
}
