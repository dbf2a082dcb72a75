/** create-composite: stores a header with its details in one transaction, and answers them with the computed values. */
import { actorsOf } from "../plans/audit-columns.ts";
import { type Call, defineAction } from "../calls/action.ts";
import type { Column } from "../values/types/column.ts";
import {
  atOneTime,
  type CompositeNeeds,
  type NewDetail,
  newDetail,
} from "../documents/composite.ts";
import {
  aboutDocument,
  detailsByKey,
  type DetailScope,
  headerKeyFor,
  insertDetails,
  placingRefusals,
} from "../documents/detail-writes.ts";
import type { DetailPlan } from "../plans/composite-plan.ts";
import { collectingErrors, type FieldErrors, validationFailed } from "../values/errors.ts";
import { etagOf } from "../records/etag.ts";
import { hasHandlers, runAfter, runBefore } from "../records/events.ts";
import { past } from "../callers/scoped-session.ts";
import { keptOnce, recount } from "../totals/kept-session.ts";
import type { Json } from "../values/json.ts";
import type { Row } from "../values/row.ts";
import { createAudit, filledBeside, filledLater, readBack, withFills } from "../records/record.ts";
import { addTableFaults } from "../records/table-faults.ts";
import { rowOf } from "../query/key-conditions.ts";
import { isDemanded } from "../totals/foreseen-values.ts";
import { newKey } from "../records/record-key.ts";
import type { Scalar } from "../values/scalar.ts";
import { comparand } from "../query/comparisons.ts";
import {
  type DocumentNeeds,
  newDocument,
  newDocumentNeeds,
  type NewLines,
  type SentDocument,
} from "../documents/composite-grammar.ts";
import { createdCompositeSchema } from "../documents/composite-schema.ts";
import { arithmeticOf, isExact } from "../values/types/arithmetic.ts";

type Needs = DocumentNeeds<NewLines>;
type NewDocument = SentDocument<NewLines>;

/** A body that was checked. */
interface NewComposite {
  readonly header: ReadonlyMap<Column, Scalar>;
  readonly details: readonly {
    readonly detail: DetailPlan;
    readonly items: readonly NewDetail[];
  }[];
}

export const createComposite = defineAction<Needs, NewDocument>({
  name: "create-composite",
  summary: "Stores a header with its details, all or nothing.",
  mode: "writes",
  methods: ["POST"],
  requires: ["key", "inserts", "masterDetail", "transactions"],
  headers: ["Idempotency-Key"],
  events: ["onBeforeInsert", "onAfterInsert"],
  errors: ["validationFailed", "foreignKeyMissing", "duplicateEntry", "constraintViolation"],
  sees: "active",
  takesOptions: true,
  needs: newDocumentNeeds,
  grammar: (plan, { entity }) => newDocument(plan, entity),
  answer: (plan, { entity }) => ({
    status: 201,
    schema: createdCompositeSchema(plan, entity),
    hasEtag: true,
  }),

  begin(given, plan) {
    const call = atOneTime(given);
    const { entity, input } = call;
    // An invalid body is refused before anything is written, unless a handler could still correct it.
    const ready = hasHandlers(entity, "onBeforeInsert") ? null : newComposite(call, plan, input);
    return placingRefusals(async (tx, oneByOne) => {
      const data = await runBefore(call, tx, { event: "onBeforeInsert", data: input.sent });
      const composite =
        ready ?? newComposite(call, plan, { sent: data, lines: plan.lines.read(data) });
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
  { sent, lines }: NewDocument,
): NewComposite {
  const { details } = plan.composite;
  const errors: FieldErrors = {};
  const header = newHeader({ ...call, body: sent }, plan, errors);
  const [createdBy] = actorsOf(plan.write.audit, "create");
  const actor = (createdBy && header.get(createdBy)) ?? null;
  const checked = details.map((detail, at) => ({
    detail,
    items: lines[at]!.map((place) => newDetail(call, place, { actor, errors })),
  }));
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
  return { header, details: checked };
}

function newHeader(call: Call, plan: CompositeNeeds, errors: FieldErrors): Map<Column, Scalar> {
  const { write, composite } = plan;
  const { rules } = call.entity;
  const open = { ...write, writable: composite.writable };
  const checked = rules.check(withFills(call, open), "create", composite.writable);
  Object.assign(errors, checked.errors);
  const values = new Map<Column, Scalar>([
    ...filledBeside({ ...call, rules }, open),
    ...checked.values,
  ]);
  const made = newKey(call, write, rules, errors);
  for (const [column, value] of made) values.set(column, value);
  const { table } = write;
  addTableFaults(errors, call.entity, { table, values, later: () => filledLater(plan) });
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
  composite: NewComposite,
  { tx, oneByOne }: Pick<DetailScope, "tx" | "oneByOne">,
): Promise<{ record: Row; etag: string; subject: readonly Json[] }> {
  const { table, key, shown } = plan.write;
  const returning = [...new Set([...shown.values(), ...key])];
  const stored = await keptOnce(
    tx,
    () => insertAll(plan, composite, { tx, oneByOne, returning }),
    aboutDocument(plan),
  );
  const { subject, hasTotals } = stored;
  const keyValue = key.map((column, at) => comparand(column, subject[at]!));
  const row = hasTotals ? await tx.one(rowOf({ table, key, keyValue }, returning)) : stored.row;
  if (!row) throw new Error("The database stored a row but did not find it afterwards");
  const lists: Record<string, Row[]> = {};
  for (const { detail, names, scope } of stored.lines)
    lists[detail.table.name] = await detailsByKey(detail, names, scope);
  const record = await readBack(row, plan, tx);
  for (const { name } of key) if (!shown.has(name)) delete record[name];
  return { record: { ...record, ...lists }, etag: etagOf(record, plan.read), subject };
}

async function insertAll(
  { write: { table, key } }: CompositeNeeds,
  { header, details }: NewComposite,
  { tx, oneByOne, returning }: Pick<DetailScope, "tx" | "oneByOne"> & { returning: Column[] },
) {
  const columns = [...header.keys()];
  const rows = [[...header.values()]];
  const [row] = await tx.insert({ kind: "insert", table, key, columns, rows, returning });
  if (!row) throw new Error("The database stored a row but did not return it");
  const subject = key.map(({ name }) => row[name] ?? null);
  const [headerKey = null] = subject;
  const lines = [];
  for (const { detail, items } of details) {
    const own = past(tx, "writtenLines");
    const scope = { tx: own, oneByOne, headerKey: headerKeyFor(detail, headerKey) };
    lines.push({ detail, scope, names: await insertDetails(detail, items, scope) });
  }
  return { row, subject, lines, hasTotals: recount(tx, table, headerKey) };
}
