/**
 * A session that updates formulas and totals after every write of a line, in its transaction. It sits between the
 * caller's scope and the database, so no code that writes rows needs to know about it. It does not see SQL of handlers.
 */
import { past } from "../callers/scoped-session.ts";
import type { Queries, DbSession, DbTransaction, TransactionOptions } from "../query/session.ts";
import type { HeaderTable, LinesTable } from "../plans/document-tables.ts";
import type { Row } from "../values/row.ts";
import { PassingSession, PassingTransaction, type RowWrite } from "../query/passing-session.ts";
import { keyBatches, keyIn, keyIs } from "../query/key-conditions.ts";
import {
  allOf,
  type Delete,
  type Insert,
  type Narrowed,
  type Select,
  type UpdateMany,
  type UpdateOne,
} from "../query/statement.ts";
import type { Table } from "../values/types/column.ts";
import type { Json } from "../values/json.ts";
import type { Key } from "../values/types/key.ts";
import { hasCascades } from "./database-cascades.ts";
import { withForeseen } from "./foreseen-values.ts";
import { headerKeys, oweCascades, readAgain, type Reaching } from "./reached-rows.ts";
import { assignedKeys, keysIn, keyValueOf, only, union } from "./row-values.ts";
import { type Keeping, Settlement, type TotalsOf } from "./settlement.ts";

/** The session itself if no table of the project has formulas or totals. */
export const keptSession = (session: DbSession, keeping: Keeping): DbSession =>
  keeping.tables.lines.size === 0 ? session : new KeptSession(session, keeping);

/** Totals are computed once, after the work, together with the formulas of new lines and of lines of a known header. */
export function keptOnce<T>(
  queries: Queries,
  work: () => Promise<T>,
  about: TotalsOf = {},
): Promise<T> {
  const settlement = settlementOf(queries);
  return settlement === null ? work() : settlement.once(work, about);
}

/** Recomputes the totals of this header, even if its lines do not change. False: it has none. */
export function recount(queries: Queries, table: Table, key: Json | undefined): boolean {
  const own = past(queries, "totals");
  return own instanceof KeptTransaction && own.recount(table, key);
}

function settlementOf(queries: Queries): Settlement | null {
  const own = past(queries, "totals");
  return own instanceof KeptTransaction ? own.settlement : null;
}

/** A header, and its lines. */
interface Document {
  readonly lines: LinesTable;
  readonly header: HeaderTable;
}

class KeptTransaction extends PassingTransaction<Keeping> {
  readonly settlement = new Settlement(this.own, {
    keeping: this.layer,
    update: (one) => this.change(one),
  });

  protected override mark(): () => void {
    return this.settlement.mark();
  }

  recount({ identity }: Table, key: Json | undefined): boolean {
    const documents = this.layer.tables.documents.get(identity) ?? [];
    for (const one of documents) this.settlement.oweTo(one, key, false);
    return documents.length > 0;
  }

  /** Locks headers before their lines: all writers use this order. */
  override async all(select: Narrowed<Select>): Promise<Row[]> {
    if (select.lock) await this.lockHeaders(select);
    return this.queries.all(select);
  }

  override async one(select: Narrowed<Select>): Promise<Row | null> {
    if (select.lock) await this.lockHeaders(select);
    return this.queries.one(select);
  }

  override async insert(insert: Narrowed<Insert>): Promise<Row[]> {
    const lines = this.linesIn(insert);
    if (lines === undefined) return this.queries.insert(insert);
    const { settlement } = this;
    const { key, columns, returning } = insert;
    const given = keysIn(lines, insert);
    await settlement.lock(lines, given);
    const foreignKeys = lines.headers.map(({ foreignKey }) => foreignKey);
    const isGiven = foreignKeys.every(({ name }) => columns.some((one) => one.name === name));
    const computes = lines.computed.length > 0 && !settlement.isHeld;
    const more = [...(isGiven ? [] : foreignKeys), ...(computes ? key : [])];
    const filled = withForeseen(insert, lines);
    const stored = await this.own.insert({ ...filled, returning: union(returning, more) });
    if (!isGiven) await settlement.lock(lines, stored);
    settlement.owe(lines, isGiven ? given : stored);
    if (computes) await this.compute(lines, key, stored);
    await settlement.settle();
    const answered = computes ? await readAgain(insert, stored, this.own) : stored;
    return answered.map((row) => only(row, returning));
  }

  override updateOne(update: Narrowed<UpdateOne>): Promise<Row | null> {
    return this.change(update);
  }

  private async change(update: UpdateOne): Promise<Row | null> {
    const lines = this.linesIn(update);
    const reaches = hasCascades(this.layer.tables.cascades, update);
    if (lines === undefined && !reaches) return this.own.updateOne(update);
    const { settlement } = this;
    const follow = await oweCascades(this.reaching, update);
    const { table, key, keyValue, guard, set, returning } = update;
    if (lines === undefined) {
      const row = await this.own.updateOne({ ...update, returning: union(returning, key) });
      await follow();
      await settlement.settle();
      // The row may be the header of lines that were changed.
      const [now] = row === null ? [] : await readAgain(update, [row], this.own);
      return now === undefined ? null : only(now, returning);
    }
    const where = allOf(keyIs(key, keyValue), guard)!;
    const assigned = assignedKeys(lines, set);
    const before = await settlement.lockAbove(lines, { where, table, assigned });
    const computes = lines.computed.length > 0 && !settlement.isHeld;
    const isReadAgain = computes || reaches;
    const answered = isReadAgain ? union(returning, key) : returning;
    const row = await this.own.updateOne({ ...update, returning: answered });
    if (row === null) return null;
    settlement.owe(lines, [...before, ...before.map((one) => ({ ...one, ...assigned }))]);
    await follow();
    if (computes) await this.compute(lines, key, [row]);
    await settlement.settle();
    const [now] = isReadAgain ? await readAgain(update, [row], this.own) : [row];
    return only(now!, returning);
  }

  override async updateMany(update: Narrowed<UpdateMany>): Promise<number> {
    const { table, key, columns, set, rows, guard } = update;
    const marked = this.markedDocuments(update);
    const lines = this.linesIn(update);
    const reaches = hasCascades(this.layer.tables.cascades, update);
    if (lines === undefined && marked.length === 0 && !reaches)
      return this.queries.updateMany(update);
    const { settlement } = this;
    const follow = await oweCascades(this.reaching, update);
    const keys = rows.map(({ keyValue }) => keyValue);
    if (lines) {
      const assigned = assignedKeys(lines, set);
      const given = keysIn(lines, { columns, rows: rows.map(({ values }) => values) });
      await settlement.lock(lines, given);
      for (const some of keyBatches(key, keys)) {
        const where = allOf(keyIn(key, some), guard);
        const before = await settlement.lockAbove(lines, { where, table, assigned });
        settlement.owe(lines, [...before, ...before.map((one) => ({ ...one, ...assigned }))]);
      }
      settlement.owe(lines, given);
    }
    for (const one of marked)
      for (const shown of await headerKeys(one.header, this.own, { table, key, keys }))
        settlement.oweTo(one, shown, false);
    const matched = await this.queries.updateMany(update);
    await follow();
    if (lines && lines.computed.length > 0)
      for (const some of keyBatches(key, keys)) await settlement.compute(lines, keyIn(key, some));
    await settlement.settle();
    return matched;
  }

  override async delete(statement: Narrowed<Delete>): Promise<Row[]> {
    const lines = this.linesIn(statement);
    const { table, where, returning } = statement;
    const { settlement } = this;
    const follow = await oweCascades(this.reaching, statement);
    if (lines === undefined) {
      const gone = await this.queries.delete(statement);
      await follow();
      await settlement.settle();
      return gone;
    }
    const before = await settlement.lockAbove(lines, { where, table });
    const more = lines.headers.map(({ foreignKey }) => foreignKey);
    const isKnown = before.length === 1 && settlement.isHeld;
    const gone = await this.own.delete({
      ...statement,
      returning: isKnown ? returning : union(returning, more),
    });
    settlement.owe(lines, isKnown ? before : gone);
    await follow();
    await settlement.settle();
    return gone.map((row) => only(row, returning));
  }

  private get reaching(): Reaching {
    const { own, settlement } = this;
    return { queries: own, settlement, tables: this.layer.tables };
  }

  private linesIn({ table }: { readonly table: Table }): LinesTable | undefined {
    return this.layer.tables.lines.get(table.identity);
  }

  /** Documents whose headers the update marks or unmarks: a restored header gets the totals of its lines. */
  private markedDocuments({ table, set }: UpdateMany): readonly Document[] {
    const names = new Set(set.map(({ column }) => column.name));
    const documents = this.layer.tables.documents.get(table.identity) ?? [];
    return documents.filter(({ header: { marking } }) =>
      [marking?.marks.flag, marking?.marks.at].some((column) => column && names.has(column.name)),
    );
  }

  private async lockHeaders({ source, where }: Select): Promise<void> {
    const identity = source.kind === "table" ? source.identity : undefined;
    const lines = identity === undefined ? undefined : this.layer.tables.lines.get(identity);
    if (lines) await this.settlement.lockAbove(lines, { where, table: lines.table });
  }

  private async compute(lines: LinesTable, key: Key, rows: readonly Row[]): Promise<void> {
    const values = rows.flatMap((row) => keyValueOf(key, row));
    for (const some of keyBatches(key, values))
      await this.settlement.compute(lines, keyIn(key, some));
  }
}

class KeptSession extends PassingSession<Keeping> {
  tx<T>(work: (tx: DbTransaction) => Promise<T>, options?: TransactionOptions): Promise<T> {
    return this.session.tx((tx) => work(new KeptTransaction(tx, this.layer)), options);
  }

  protected over(session: DbSession): DbSession {
    return new KeptSession(session, this.layer);
  }

  /** Whether the write may change a total, so that it is more than one statement. */
  protected concerns({ table: { identity } }: RowWrite): boolean {
    const { lines, documents, cascades } = this.layer.tables;
    return lines.has(identity) || documents.has(identity) || cascades.has(identity);
  }
}
