/**
 * A session that numbers the records of tables whose endpoints ask for it: new ones when they are stored, and those
 * that change-status moves to the status of a plan. It sits below the totals, which lock headers first, and above what
 * records changes. It does not see SQL of handlers.
 */
import type { Caller } from "../plans/caller.ts";
import { everyRole } from "../plans/access-rules.ts";
import type { NumberPlan, NumberTables } from "../plans/number-tables.ts";
import { findRows, scalarOf } from "../query/find-rows.ts";
import { keyIs } from "../query/key-conditions.ts";
import type { DbSession, DbTransaction, TransactionOptions } from "../query/session.ts";
import { PassingSession, PassingTransaction, type RowWrite } from "../query/passing-session.ts";
import {
  allOf,
  type Assignment,
  type Insert,
  type Narrowed,
  selectFrom,
  sourceOf,
  type UpdateMany,
  type UpdateOne,
} from "../query/statement.ts";
import { updateRow } from "../query/write-statements.ts";
import { AppError, type FieldErrors, validationFailed } from "../values/errors.ts";
import type { Row } from "../values/row.ts";
import type { Scalar } from "../values/scalar.ts";
import type { Table } from "../values/types/column.ts";
import { type Key, keyText, type KeyValue } from "../values/types/key.ts";
import { type Counting, takeNumbers } from "./number-counters.ts";
import { isStatus, openOf, reachedBy, valueIn } from "./reached-numbers.ts";
import {
  isEmpty,
  type NumberTime,
  openNumber,
  type OpenNumber,
  type ValueOf,
} from "./number-text.ts";

/** What is numbered, and for which request. */
export interface Numbering {
  readonly tables: NumberTables;
  readonly time: NumberTime;
  readonly digest: Counting["digest"];
  readonly caller: Caller;
  /** The name of the request's action. */
  readonly action: string;
}

/** The session itself if no table of the project is numbered. */
export const numberingSession = (session: DbSession, numbering: Numbering): DbSession =>
  numbering.tables.size === 0 ? session : new NumberingSession(session, numbering);

/** Whether the caller may send numbers of the plan. */
export const maySendNumber = ({ manual }: NumberPlan, { kind, roles }: Caller): boolean =>
  manual === null ||
  roles.some((role) => manual.has(role)) ||
  (manual.has(everyRole) && (kind === "key" || kind === "token"));

/** A number that a record is to get. `give` null: it has one. */
interface WantedNumber {
  readonly open: OpenNumber;
  readonly give: ((text: string) => void) | null;
}

interface Keyed {
  readonly keyValue: KeyValue;
  readonly number: Scalar;
}

class NumberingTransaction extends PassingTransaction<
  Numbering & { readonly ledger: () => Table }
> {
  override async insert(insert: Narrowed<Insert>): Promise<Row[]> {
    const plans = this.plansOf(insert.table);
    if (plans.length === 0) return this.queries.insert(insert);
    const filled = await this.filled(insert, plans);
    const late = plans.filter((plan) => arrivesLate(plan, insert));
    if (late.length === 0) return this.queries.insert(filled);
    const statuses = late.map(({ onStatus }) => onStatus!.column);
    const more = [...insert.key, ...statuses].filter(
      (column) => !insert.returning.some(({ name }) => name === column.name),
    );
    const rows = await this.queries.insert({
      ...filled,
      returning: [...insert.returning, ...new Set(more)],
    });
    for (const row of rows) await this.numberLate(row, { insert, late });
    for (const row of rows) for (const { name } of more) delete row[name];
    return rows;
  }

  override async updateOne(update: Narrowed<UpdateOne>): Promise<Row | null> {
    const { table, key, keyValue, guard, set } = update;
    const plans = this.plansOf(table);
    if (plans.length === 0) return this.queries.updateOne(update);
    for (const plan of plans) {
      const sent = valueIn(set, plan.column);
      if (sent === undefined || this.maySend(plan)) continue;
      const where = allOf(keyIs(key, keyValue), guard);
      const source = sourceOf(table);
      const columns = [plan.column];
      const row = await this.own.one(selectFrom(source, { columns, where, limit: 1, lock: true }));
      if (row && scalarOf(plan.column, row) !== sent) throw notYours(plan);
    }
    const isStep = this.layer.action === "change-status";
    const reached = isStep ? reachedBy(set, plans) : [];
    const numbers = await this.numbersFor(update, reached);
    return this.queries.updateOne(
      numbers.length === 0 ? update : { ...update, set: [...set, ...numbers] },
    );
  }

  override async updateMany(update: Narrowed<UpdateMany>): Promise<number> {
    const { table, key, columns, rows, set } = update;
    for (const plan of this.plansOf(table)) {
      if (this.maySend(plan)) continue;
      const at = columns.findIndex(({ name }) => name === plan.column.name);
      const same = valueIn(set, plan.column);
      const sent = rows.flatMap(({ keyValue, values }): Keyed[] => {
        const number = at >= 0 ? (values[at] ?? null) : same;
        return number === undefined ? [] : [{ keyValue, number }];
      });
      if (sent.length > 0) await this.mustKeep(plan, { table, key, sent });
    }
    return this.queries.updateMany(update);
  }

  private plansOf({ identity }: Table): readonly NumberPlan[] {
    return this.layer.tables.get(identity) ?? [];
  }

  private maySend(plan: NumberPlan): boolean {
    return maySendNumber(plan, this.layer.caller);
  }

  /** Rejects with `forbidden` when a record would get another number than it has. */
  private async mustKeep(
    plan: NumberPlan,
    { table, key, sent }: { table: Table; key: Key; sent: readonly Keyed[] },
  ): Promise<void> {
    const search = { source: sourceOf(table), by: key, columns: [plan.column], lock: true };
    const keys = sent.map(({ keyValue }) => keyValue);
    const found = await findRows(this.own, search, keys);
    for (const { keyValue, number } of sent)
      for (const row of found.get(keyText(keyValue)) ?? [])
        if (scalarOf(plan.column, row) !== number) throw notYours(plan);
  }

  /** The INSERT with the numbers of its rows. */
  private async filled(
    insert: Narrowed<Insert>,
    plans: readonly NumberPlan[],
  ): Promise<Narrowed<Insert>> {
    const columns = [...insert.columns];
    const rows = insert.rows.map((row) => [...row]);
    const errors: FieldErrors = {};
    const wanted: WantedNumber[] = [];
    const places = new Map(columns.map(({ name }, at) => [name, at]));
    for (const plan of plans) {
      const { name } = plan.column;
      const at = places.get(name) ?? columns.push(plan.column) - 1;
      const isSent = rows.some((row) => !isEmpty(row[at]));
      // The number of a record that returns was its own before.
      if (isSent && !this.maySend(plan) && this.layer.action !== "revert") throw notYours(plan);
      for (const row of rows) {
        const valueOf: ValueOf = (column) => row[places.get(column.name) ?? -1];
        const { time } = this.layer;
        const { onStatus } = plan;
        if (!isEmpty(row[at])) {
          const open = openNumber(plan, { valueOf, errors: {}, time });
          if (open) wanted.push({ open, give: null });
          continue;
        }
        row[at] = null;
        if (onStatus && !isStatus(onStatus, valueOf(onStatus.column))) continue;
        const open = openNumber(plan, { valueOf, errors, time });
        if (open) wanted.push({ open, give: (text) => void (row[at] = text) });
      }
    }
    await this.give(wanted, errors);
    return { ...insert, columns, rows };
  }

  private async give(wanted: readonly WantedNumber[], errors: FieldErrors): Promise<void> {
    if (Object.keys(errors).length > 0) throw validationFailed(errors);
    if (wanted.length === 0) return;
    const { digest } = this.layer;
    const asked = wanted.map(({ open, give }) => ({ open, isTaken: give !== null }));
    const texts = await takeNumbers(this.own, asked, { ledger: this.layer.ledger(), digest });
    for (const [at, { give }] of wanted.entries()) give?.(texts[at]!);
  }

  /** Those of a stored record that it lacks; it is locked. */
  private async numbersFor(
    {
      table,
      key,
      keyValue,
      set = [],
    }: Pick<UpdateOne, "table" | "key" | "keyValue"> & { set?: readonly Assignment[] },
    plans: readonly NumberPlan[],
  ): Promise<Assignment[]> {
    const errors: FieldErrors = {};
    const numbers: Assignment[] = [];
    const { time } = this.layer;
    const open = await openOf(this.own, { table, key, keyValue, set }, { plans, time, errors });
    const wanted = open.map((one): WantedNumber => {
      const give = (value: string) =>
        void numbers.push({ kind: "set", column: one.plan.column, value });
      return { open: one, give };
    });
    await this.give(wanted, errors);
    return numbers;
  }

  /** Numbers a record to which the database has given a status at which it is numbered. */
  private async numberLate(
    row: Row,
    { insert, late }: { insert: Insert; late: readonly NumberPlan[] },
  ): Promise<void> {
    const { table, key, returning } = insert;
    const reached = late.filter(({ onStatus }) => isStatus(onStatus!, row[onStatus!.column.name]));
    const keyValue = key.map((column) => scalarOf(column, row));
    const set = await this.numbersFor({ table, key, keyValue }, reached);
    if (set.length === 0) return;
    await this.own.updateOne(updateRow(table, { key, keyValue, set }));
    for (const one of set)
      if (one.kind === "set" && returning.some(({ name }) => name === one.column.name))
        row[one.column.name] = one.value as string;
  }
}

class NumberingSession extends PassingSession<Numbering> {
  async tx<T>(work: (tx: DbTransaction) => Promise<T>, options?: TransactionOptions): Promise<T> {
    const { layer } = this;
    const ledger = await this.ledgerFor("numbers");
    return this.session.tx(
      (tx) => work(new NumberingTransaction(tx, { ...layer, ledger })),
      options,
    );
  }

  protected over(session: DbSession): DbSession {
    return new NumberingSession(session, this.layer);
  }

  protected concerns({ kind, table }: RowWrite): boolean {
    return kind !== "delete" && this.layer.tables.has(table.identity);
  }
}

/** Whether only the database gives the record its status. */
const arrivesLate = ({ onStatus }: NumberPlan, { columns, key }: Insert): boolean =>
  onStatus !== null &&
  onStatus.column.hasDefault &&
  key.length > 0 &&
  !columns.some(({ name }) => name === onStatus.column.name);

const notYours = ({ column }: NumberPlan): AppError =>
  new AppError("forbidden", `You may not set ${column.name}, which the service numbers`);
