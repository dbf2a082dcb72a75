/** create-composite: stores a header with its details in one transaction, and answers them with the computed values. */
import { type Call, defineAction } from "../calls/action.ts";
import type { Column } from "../values/column.ts";
import {
  atOneTime,
  checkCount,
  type CompositeNeeds,
  compositeNeeds,
  detailsIn,
  headerOf,
  isDemanded,
  type NewDetail,
  newDetail,
  linesOf,
  collectingErrors,
} from "../documents/composite.ts";
import {
  computeDetails,
  detailsByKey,
  type DetailScope,
  headerKeyFor,
  insertDetails,
  placingRefusals,
  totalsOf,
} from "../documents/detail-writes.ts";
import type { DetailPlan } from "../plans/entity.ts";
import { type FieldErrors, invalidPayload, validationFailed } from "../values/errors.ts";
import { etagOf } from "../records/etag.ts";
import { hasHandlers, runAfter, runBefore } from "../records/events.ts";
import { past } from "../callers/scoped-session.ts";
import type { Queries } from "../callers/session.ts";
import type { Json } from "../values/json.ts";
import type { Row } from "../plans/ports.ts";
import { createAudit, fillsBeside, readBack, withFills } from "../records/record.ts";
import type { Assignment } from "../query/statement.ts";
import type { KeyValue } from "../values/key.ts";
import { newKey } from "../records/record-key.ts";
import type { Scalar } from "../values/scalar.ts";
import { comparand } from "../query/where.ts";
import { createCompositeSchema, createdCompositeSchema } from "../documents/composite-schema.ts";
import { arithmeticOf, isExact } from "../values/arithmetic.ts";

/** A body that was checked. */
interface NewComposite {
  readonly header: ReadonlyMap<Column, Scalar>;
  readonly details: readonly {
    readonly detail: DetailPlan;
    readonly items: readonly NewDetail[];
  }[];
}

export const createComposite = defineAction<CompositeNeeds>({
  name: "create-composite",
  summary: "Stores a header with its details, all or nothing.",
  mode: "writes",
  methods: ["POST"],
  requires: ["key", "inserts", "masterDetail", "transactions"],
  headers: ["Idempotency-Key"],
  events: ["onBeforeInsert", "onAfterInsert"],
  errors: ["validationFailed", "foreignKeyMissing", "duplicateEntry"],
  sees: "active",
  takesOptions: true,
  takesEmptyBody: false,
  needs: compositeNeeds,
  input: (plan, { entity }) => createCompositeSchema(plan, entity),
  answer: (plan, { entity }) => ({
    status: 201,
    schema: createdCompositeSchema(plan, entity),
    hasEtag: true,
  }),

  begin(given, plan) {
    const call = atOneTime(given);
    const { entity } = call;
    const sent = headerOf(call.body, plan);
    // An invalid body is refused before anything is written, unless a handler could still correct it.
    const ready = hasHandlers(entity, "onBeforeInsert") ? null : newComposite(call, plan, sent);
    return placingRefusals(async (tx, oneByOne) => {
      const data = await runBefore(call, tx, { event: "onBeforeInsert", data: sent });
      const composite = ready ?? newComposite(call, plan, data);
      const { record, etag, subject } = await store(plan, composite, { tx, oneByOne });
      await runAfter(call, tx, { event: "onAfterInsert", data, record });
      const message = `${entity.name} data successfully added`;
      return { status: 201, body: { message, data: record }, etag, subject };
    });
  },
});

function newComposite(
  call: Call,
  plan: CompositeNeeds,
  sent: Record<string, unknown>,
): NewComposite {
  const { details } = plan.composite;
  const places = details.map((detail) =>
    linesOf(listOf(sent, detail), { detail, list: null, saysList: false }),
  );
  const count = places.flat().length;
  if (count === 0)
    throw invalidPayload(
      `${details.map(({ table }) => table.name).join(" or ")} must not be empty`,
    );
  checkCount(count);
  const errors: FieldErrors = {};
  const header = newHeader({ ...call, body: sent }, plan, errors);
  const { createdBy } = plan.write.audit;
  const actor = (createdBy && header.get(createdBy)) ?? null;
  const checked = details.map((detail, at) => ({
    detail,
    items: places[at]!.map((place) => newDetail(call, place, { actor, errors })),
  }));
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
  return { header, details: checked };
}

function listOf(sent: Record<string, unknown>, detail: DetailPlan): readonly unknown[] {
  const items = detailsIn(sent, detail) ?? [];
  if (!Array.isArray(items))
    throw invalidPayload(`${detail.table.name} must be an array of objects`);
  return items;
}

function newHeader(call: Call, plan: CompositeNeeds, errors: FieldErrors): Map<Column, Scalar> {
  const { write, composite } = plan;
  const { rules } = call.entity;
  const open = { ...write, writable: composite.writable };
  const checked = rules.check(withFills(call, open), "create", composite.writable);
  Object.assign(errors, checked.errors);
  const values = new Map<Column, Scalar>([...fillsBeside(call, open), ...checked.values]);
  const made = newKey(call, { ...write, rules, fills: call.fills }, errors);
  for (const [column, value] of made) values.set(column, value);
  for (const [column, value] of collectingErrors(errors, () => createAudit(plan, call)))
    values.set(column, value);
  // The header is inserted before its details, so its totals need a value until they are computed.
  for (const { column } of composite.details.flatMap(({ totals }) => totals)) {
    if (isExact(column) && isDemanded(column))
      values.set(column, arithmeticOf(column).fromDigits("0"));
  }
  return values;
}

async function store(
  plan: CompositeNeeds,
  { header, details }: NewComposite,
  { tx, oneByOne }: Pick<DetailScope, "tx" | "oneByOne">,
): Promise<{ record: Row; etag: string; subject: readonly Json[] }> {
  const { table, key, shown } = plan.write;
  const [stored] = await tx.insert({
    kind: "insert",
    table,
    key,
    columns: [...header.keys()],
    rows: [[...header.values()]],
    returning: [...new Set([...shown.values(), ...key])],
  });
  if (!stored) throw new Error("The database stored a row but did not return it");
  const subject = key.map(({ name }) => stored[name] ?? null);
  const keyValue = key.map((column, at) => comparand(column, subject[at]!));
  const [headerKey = null] = subject;

  const totals: Assignment[] = [];
  const lists: Record<string, Row[]> = {};
  for (const { detail, items } of details) {
    const scope = { tx: past(tx, "details"), oneByOne, headerKey: headerKeyFor(detail, headerKey) };
    const keys = await insertDetails(detail, items, scope);
    await computeDetails(detail, scope);
    totals.push(...(await totalsOf(detail, scope)));
    lists[detail.table.name] = await detailsByKey(detail, keys, scope);
  }
  const row = totals.length > 0 ? await addTotals(plan, keyValue, { totals, tx }) : stored;
  const record = await readBack(row, plan, tx);
  for (const { name } of key) if (!shown.has(name)) delete record[name];
  return { record: { ...record, ...lists }, etag: etagOf(record, plan.read), subject };
}

async function addTotals(
  { write: { table, key, shown } }: CompositeNeeds,
  keyValue: KeyValue,
  { totals, tx }: { totals: readonly Assignment[]; tx: Queries },
): Promise<Row> {
  const returning = [...new Set([...shown.values(), ...key])];
  const guard = null;
  const row = await tx.updateOne({
    kind: "update",
    table,
    key,
    keyValue,
    guard,
    set: totals,
    returning,
  });
  if (!row) throw new Error("The database stored a row but did not find it afterwards");
  return row;
}
