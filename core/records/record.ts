/**
 * What the writing actions share: the key in a body, the audit columns that the service fills, the change of one record
 * with handlers and If-Match, and the record that a write answers.
 */
import {
  collectingErrors,
  type FieldErrors,
  noSuchRecord,
  validationFailed,
} from "../values/errors.ts";
import type { Call, Write } from "../calls/action.ts";
import type { Answer } from "../calls/answer.ts";
import type { Column, Columns } from "../values/types/column.ts";
import type { AuditColumns } from "../plans/audit-columns.ts";
import type { Entity } from "../plans/entity.ts";
import type { InsertPlan, WritePlan } from "../plans/write-plan.ts";
import type { ReadPlan } from "../plans/read-plan.ts";
import { setTo } from "../query/write-statements.ts";
import { checkIfMatch, etagOf } from "./etag.ts";
import { hasHandlers, runAfter, runBefore } from "./events.ts";
import type { EventName } from "../plans/hook.ts";
import type { Queries } from "../query/session.ts";
import { flagValue } from "../callers/visibility.ts";
import type { Json } from "../values/json.ts";
import type { Row } from "../values/row.ts";
import { keyAsJson } from "./replay.ts";
import { type Assignment, type Insert, selectFrom } from "../query/statement.ts";
import { keyIs, rowOf } from "../query/key-conditions.ts";
import { isOfKey, keyText, type KeyValue } from "../values/types/key.ts";
import { findRows } from "../query/find-rows.ts";
import type { Rules } from "../rules/compile-rules.ts";
import { newKey } from "./record-key.ts";
import { addTableFaults } from "./table-faults.ts";
import type { Scalar } from "../values/scalar.ts";
import { accept } from "../values/types/accept.ts";
import { isLonger } from "../values/text.ts";
import { columnTypes } from "../values/types/column-types.ts";
import { comparand } from "../query/comparisons.ts";

/** What actions on single records need. */
export interface RecordPlan {
  readonly write: WritePlan;
  readonly read: ReadPlan;
}

export const recordPlan = (entity: Entity): RecordPlan | null =>
  entity.write && entity.read ? { write: entity.write, read: entity.read } : null;

/** The same for actions that change the record of a key. */
export function changePlan(entity: Entity): RecordPlan | null {
  const plan = recordPlan(entity);
  return plan?.write.namesRecords ? plan : null;
}

/** The plan of an action whose answers always show these columns of the table, which fieldName may lack. */
export const alwaysShowing = ({ write, read }: RecordPlan, columns: Columns): RecordPlan => ({
  write: { ...write, shown: new Map([...write.shown, ...columns]) },
  read,
});

/** What create needs; unlike the other writes it can do without a key. */
export interface InsertingPlan {
  readonly write: InsertPlan;
  readonly read: ReadPlan;
}

/** A body that becomes a record. */
export type NewBody = Pick<Call, "entity" | "body" | "newId" | "now" | "caller" | "fills">;

/** The statement that stores the body as a new record, after the entity's rules. Rejects with `validationFailed`. */
export function insertOf(call: NewBody, plan: InsertingPlan): Insert {
  const { table, key, shown } = plan.write;
  const values = newValues(call, plan);
  return {
    kind: "insert",
    table,
    key,
    columns: [...values.keys()],
    rows: [[...values.values()]],
    returning: [...shown.values()],
  };
}

/** The values of a new record. Rejects as `insertOf` does. */
export function newValues(call: NewBody, plan: InsertingPlan): ReadonlyMap<Column, Scalar> {
  const { rules } = call.entity;
  const checked = rules.check(withFills(call, plan.write), "create", plan.write.writable);
  const errors: FieldErrors = { ...checked.errors };
  const values = filledBeside({ ...call, rules }, plan.write);
  const made = newKey(call, plan.write, rules, errors);
  for (const [column, value] of made) values.set(column, value);
  for (const [column, value] of checked.values) values.set(column, value);
  const { table } = plan.write;
  addTableFaults(errors, call.entity, { table, values, later: () => filledLater(plan) });
  for (const [column, value] of collectingErrors(errors, () => createAudit(plan, call)))
    values.set(column, value);
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
  return values;
}

/**
 * The body with the fields that the caller's scope fills in, as far as a body may set them. Values that their columns do
 * not take are left out: they are no fault of the body, and the record then lies outside the scope.
 */
export function withFills(
  { body, fills }: Pick<Call, "body" | "fills">,
  { writable }: Pick<InsertPlan, "writable">,
): Record<string, unknown> {
  if (fills.size === 0) return body;
  const missing = [...fills].flatMap(([name, value]) => {
    const column = writable.get(name);
    // A row of a file has undefined where its cell is empty.
    if (column === undefined || (Object.hasOwn(body, name) && body[name] !== undefined)) return [];
    const filled = fillOf(column, value);
    return accept(column, filled).ok ? [[name, filled] as const] : [];
  });
  return missing.length === 0 ? body : { ...body, ...Object.fromEntries(missing) };
}

/** Numbers and booleans of a claim are compared with a text column as text, and stored as that. */
const fillOf = ({ type }: Column, value: Json): Json =>
  columnTypes[type].isText ? String(value) : value;

/** Values of columns that the body may not set: the defaults of their rules, and those of the caller's scope. */
export function filledBeside(
  { fills, rules }: Pick<Call, "fills"> & { readonly rules: Rules },
  { table, writable, presets, key }: Pick<InsertPlan, "table" | "writable" | "presets" | "key">,
): Map<Column, Scalar> {
  const { values } = rules.check({}, "create", presets);
  for (const [name, value] of fills) {
    const column = table.columns.get(name);
    if (!column || isOfKey(key, column) || writable.has(name) || column.generated === "computed")
      continue;
    const accepted = accept(column, fillOf(column, value));
    if (accepted.ok) values.set(column, accepted.value);
  }
  return values;
}

/** Columns of a new record that `createAudit` fills. */
export const filledLater = ({ write: { audit, flag } }: Audited): Column[] => [
  ...audit.map(({ column }) => column),
  ...(flag ? [flag] : []),
];

/** What is needed to fill the audit columns; details have it too. */
interface Audited {
  readonly write: Pick<InsertPlan, "audit" | "flag">;
}
type Asked = Pick<Call, "body" | "now" | "caller">;

/**
 * Fields that the service fills. Times ignore the body; a user may come from it. `creator`: who counts if the body names
 * none.
 */
export function createAudit(
  { write }: Audited,
  call: Asked & { readonly creator?: Scalar },
): Map<Column, Scalar> {
  const now = call.now();
  const values = new Map<Column, Scalar>();
  const { flag } = write;
  if (flag) values.set(flag, flagValue(flag, false));
  for (const { column, when, kind, isReadOnly, check } of write.audit) {
    // Those of updates stay empty until the first one, unless the table insists on a value.
    if (when === "update" && !insists(column)) continue;
    const body = when === "create" && !isReadOnly ? call.body : {};
    const byDefault = when === "create" && call.creator ? String(call.creator) : "Input from API";
    if (kind === "time") setTime(values, column, now);
    else {
      const user = actorOf(column, { ...call, body, byDefault, check });
      if (user !== null) values.set(column, user);
    }
  }
  return values;
}

export function updateAudit({ write }: Audited, call: Asked): Assignment[] {
  const values = new Map<Column, Scalar>();
  const users: Assignment[] = [];
  const stamped: Column[] = [];
  let after: Column | null = null;
  for (const { column, kind, when, isReadOnly, check } of write.audit) {
    const isInstant = kind === "time" && columnTypes[column.type].isInstant;
    if (when === "create") {
      if (isInstant) after = column;
    } else if (kind === "user") {
      const body = isReadOnly ? {} : call.body;
      const user = actorOf(column, { ...call, body, byDefault: "Update from API", check });
      users.push(...setUser(column, user));
    } else if (isInstant) stamped.push(column);
    else setTime(values, column, call.now());
  }
  return [
    ...users,
    ...[...values].map(([column, value]) => setTo(column, value)),
    ...stamped.map((column): Assignment => ({ kind: "stamp", column, after, now: call.now() })),
  ];
}

/** The same for a record that changes together with the one that the caller names. */
export const stampOf =
  (call: Pick<Asked, "caller" | "now">) =>
  (audit: AuditColumns): Assignment[] =>
    updateAudit({ write: { audit, flag: null } }, { ...call, body: {} });

/**
 * The record as `first` would answer it, for a row that a write on the table returned. The table's columns that the
 * view lacks follow, so that the answer always shows what the write changed.
 */
export async function readBack(row: Row, plan: InsertingPlan, queries: Queries): Promise<Row> {
  if (!plan.write.readBack) return row;
  const { source, columns } = plan.read;
  const key: Column[] = [];
  const keyValue: Scalar[] = [];
  for (const own of plan.write.key) {
    const column = source.columns.get(own.name);
    const shown = row[own.name] ?? null;
    if (!column || shown === null) return row;
    key.push(column);
    keyValue.push(comparand(own, shown));
  }
  const where = keyIs(key, keyValue);
  const shown = [...columns.values()];
  const record = await queries.one(selectFrom(source, { columns: shown, where, limit: 1 }));
  // If the view omits the row, the table's record is the answer.
  if (record === null) return row;
  const others = Object.entries(row).filter(([name]) => !columns.has(name));
  return { ...record, ...Object.fromEntries(others) };
}

/** The same for many rows, with few statements. */
export async function readBackAll(
  rows: readonly Row[],
  plan: InsertingPlan,
  queries: Queries,
): Promise<Row[]> {
  if (!plan.write.readBack || rows.length < 2)
    return Promise.all(rows.map((row) => readBack(row, plan, queries)));
  const { source, columns } = plan.read;
  const by = plan.write.key.flatMap(({ name }) => source.columns.get(name) ?? []);
  const isNamed = by.length > 0 && by.length === plan.write.key.length;
  if (!isNamed || rows.some((row) => by.some(({ name }) => (row[name] ?? null) === null)))
    return [...rows];
  const keys = rows.map((row) => plan.write.key.map((own) => comparand(own, row[own.name])));
  const search = { source, by, columns: [...columns.values()], lock: false };
  const found = await findRows(queries, search, keys);
  return rows.map((row, at) => {
    const record = found.get(keyText(keys[at]!))?.[0];
    if (record === undefined) return row;
    const others = Object.entries(row).filter(([name]) => !columns.has(name));
    const own = [...columns.keys()].map((name) => [name, record[name] ?? null] as const);
    return Object.fromEntries([...own, ...others]);
  });
}

/** How update and adjust differ. */
export interface RecordChange {
  readonly keyValue: KeyValue;
  readonly events: { readonly before: EventName; readonly after: EventName };
  /**
   * Checks the call's body (the client's own, or the data of a before handler) and returns the function that writes it,
   * which resolves to null if the record does not exist.
   */
  prepare(call: Call): (queries: Queries) => Promise<Row | null>;
  /** Of the answer. */
  readonly message: string;
}

/**
 * Changes the record that the body names and answers it. With handlers, If-Match or a view to read back through, this
 * is a transaction: lock, compare, before handlers, check the data, write, read back, after handlers. Otherwise it is
 * one statement.
 */
export function beginChange(
  call: Call,
  plan: RecordPlan,
  recordChange: RecordChange,
): Write | Promise<Write> {
  const change = changeWork(call, plan, recordChange);
  const { locks } = call;
  return locks.guardsWrites
    ? locks.guardWrite(plan.write, [recordChange.keyValue]).then(() => change)
    : change;
}

/** The same for a record whose locks were checked already. */
export function changeWork(
  call: Call,
  plan: RecordPlan,
  { keyValue, events, prepare, message }: RecordChange,
): Write {
  const isLocked = call.ifMatch !== null || hasHandlers(call.entity, events.before, events.after);
  // An invalid body is refused before anything is locked, unless a handler could still correct it.
  const ready = hasHandlers(call.entity, events.before) ? null : prepare(call);
  const answer = (record: Row): Answer => {
    const etag = etagOf(record, plan.read);
    const subject = keyAsJson(keyValue);
    return { status: 200, body: { message, data: record }, etag, subject };
  };
  return ready !== null && !isLocked && !plan.write.readBack
    ? {
        isOneStatement: true,
        run: async (queries) => answer(present(await ready(queries), call.entity)),
      }
    : {
        isOneStatement: false,
        async run(queries) {
          const oldRecord = isLocked ? await lockRecord(call, plan, keyValue, queries) : null;
          const data = await runBefore(call, queries, {
            event: events.before,
            data: call.body,
            oldRecord,
          });
          const write = ready ?? prepare({ ...call, body: data });
          const row = present(await write(queries), call.entity);
          const record = await readBack(row, plan, queries);
          await runAfter(call, queries, { event: events.after, data, oldRecord, record });
          return answer(record);
        },
      };
}

/** Whether an error may name the column to the caller, who sees it or has sent it. */
export const isNamed = (
  name: string,
  body: Record<string, unknown>,
  { shown, writable }: Pick<InsertPlan, "shown" | "writable">,
): boolean => shown.has(name) || (writable.has(name) && Object.hasOwn(body, name));

/** The row. Throws `notFound` for null. */
function present(row: Row | null, entity: Entity): Row {
  if (row === null) throw noSuchRecord(entity);
  return row;
}

/** Locks the record until the transaction ends; returns it as answered. Rejects if missing (404) or changed (412). */
export async function lockRecord(
  call: Pick<Call, "entity" | "ifMatch">,
  plan: RecordPlan,
  keyValue: KeyValue,
  tx: Queries,
): Promise<Row> {
  const { table, key, shown } = plan.write;
  const row = await tx.one(rowOf({ table, key, keyValue, lock: true }, [...shown.values()]));
  if (!row) throw noSuchRecord(call.entity);
  const record = await readBack(row, plan, tx);
  if (call.ifMatch !== null) checkIfMatch(call.ifMatch, record, plan.read);
  return record;
}

function setTime(values: Map<Column, Scalar>, column: Column, now: string): void {
  if (columnTypes[column.type].isInstant)
    values.set(column, cutFraction(now, column.fractionDigits));
  else values.set(column, now);
}

/** If the column stores fewer digits of a second, the time is cut, never rounded into the future. */
export const cutFraction = (instant: string, digits: number): string =>
  digits >= 3 ? instant : `${instant.slice(0, 20 + digits)}${"0".repeat(3 - digits)}Z`;

type Acting = Pick<Asked, "caller" | "body"> &
  Pick<AuditColumns[number], "check"> & { readonly byDefault: string };

/**
 * The user; in projects without credentials, the body's value or `byDefault`. Null: the column cannot hold the user.
 * Rejects with `validationFailed`.
 */
export function actorOf(column: Column, { caller, body, byDefault, check }: Acting): Scalar {
  const own = userIn(column, (caller.kind === "nobody" ? null : caller.id) ?? byDefault);
  const sent = Object.hasOwn(body, column.name) ? body[column.name] : undefined;
  if (caller.kind !== "nobody" || sent === undefined || sent === null || sent === "") return own;
  const { values, errors } = check(sent);
  if (errors) throw validationFailed(errors);
  return values.get(column) || own;
}

/**
 * The user as the column holds it; null if it cannot. Of a name that is longer than the column, the beginning: the
 * write is not the place to refuse it.
 */
export function userIn(column: Column, name: string): Scalar {
  const longest = Math.min(column.lengthMax ?? Infinity, (column.bytesMax ?? Infinity) / 4);
  if (columnTypes[column.type].isText)
    return isLonger(name, longest) ? [...name].slice(0, longest).join("") : name;
  const accepted = accept(column, name);
  // "007" is not the user 7.
  const isSame = accepted.ok && String(accepted.value).toLowerCase() === name.toLowerCase();
  return isSame ? accepted.value : null;
}

/** Empty where nobody can stand in the column: who stands there stays. */
export const setUser = (column: Column, user: Scalar): Assignment[] =>
  user === null && !column.nullable ? [] : [setTo(column, user)];

const insists = ({ nullable, hasDefault }: Column): boolean => !nullable && !hasDefault;
