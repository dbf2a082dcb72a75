/**
 * A session that records the changes of tables whose endpoints ask for it, in the transaction that makes them. It sits
 * below scope and totals, directly above the database, so no code that writes rows needs to know about it. It does not
 * see SQL of handlers.
 */
import type { ChangeTables, RecordedTable } from "../plans/change-tables.ts";
import { keyBatches, keyIn } from "../query/key-conditions.ts";
import { PassingSession, PassingTransaction, type RowWrite } from "../query/passing-session.ts";
import type { DbSession, DbTransaction, LedgerName, TransactionOptions } from "../query/session.ts";
import {
  type Calculate,
  type Condition,
  type Delete,
  type Insert,
  type Narrowed,
  type Select,
  selectFrom,
  sourceOf,
  type UpdateMany,
  type UpdateOne,
} from "../query/statement.ts";
import { hasCascades, visitCascades } from "../totals/database-cascades.ts";
import { only, union } from "../totals/row-values.ts";
import type { Row } from "../values/row.ts";
import type { Table } from "../values/types/column.ts";
import { keyText, type KeyValue } from "../values/types/key.ts";
import { ChangeBook, imageKey } from "./change-book.ts";
import { type Author, changeKind } from "./change-log.ts";
import {
  insertsTold,
  loggedInsert,
  loggedUpdate,
  type ToldWrite,
  toldOf,
  updatesTold,
} from "./logged-write.ts";
import { isSweepDue, ledgersOf, storeRecorded } from "./store-recorded.ts";

/** What is recorded, and for which request. */
export interface Recording {
  readonly tables: ChangeTables;
  readonly author: Author;
  /** Called after the commit of changes of which clients may be told. */
  committed(): void;
}

/** The session itself if no endpoint of the project asks for changes. */
export const recordingSession = (session: DbSession, recording: Recording): DbSession =>
  recording.tables.recorded.size === 0 ? session : new RecordingSession(session, recording);

class RecordingTransaction extends PassingTransaction<ChangeTables> {
  readonly book = new ChangeBook();

  protected override mark(): () => void {
    return this.book.mark();
  }

  /** Rows that are locked are probably changed next: their whole image is read at once. */
  override async all(select: Narrowed<Select>): Promise<Row[]> {
    const recorded = select.lock ? this.recordedIn(select) : undefined;
    if (recorded === undefined) return this.queries.all(select);
    const rows = await this.queries.all({
      ...select,
      columns: union(select.columns, recorded.columns),
    });
    for (const row of rows) this.book.saw(recorded, only(row, recorded.columns));
    return rows.map((row) => only(row, select.columns));
  }

  override async one(select: Narrowed<Select>): Promise<Row | null> {
    if (!select.lock) return this.queries.one(select);
    const [row = null] = await this.all({ ...select, limit: 1 });
    return row;
  }

  override async insert(insert: Narrowed<Insert>): Promise<Row[]> {
    const recorded = this.recorded(insert);
    if (recorded === undefined) return this.queries.insert(insert);
    const returning = union(insert.returning, recorded.columns);
    const rows = await this.queries.insert({ ...insert, returning });
    for (const row of rows) this.book.note(recorded, null, only(row, recorded.columns));
    return rows.map((row) => only(row, insert.returning));
  }

  override async updateOne(update: Narrowed<UpdateOne>): Promise<Row | null> {
    const reached = await this.reached(update);
    const row = await this.recordedUpdate(update);
    await this.noteReached(reached);
    return row;
  }

  private async recordedUpdate(update: Narrowed<UpdateOne>): Promise<Row | null> {
    const recorded = this.recorded(update);
    if (recorded === undefined) return this.queries.updateOne(update);
    const { key, keyValue, returning } = update;
    const [[before = null], row] = await this.tx.both(
      () => this.images(recorded, { key, values: [keyValue] }),
      () => this.queries.updateOne({ ...update, returning: union(returning, recorded.columns) }),
    );
    if (before === null || row === null) return null;
    this.book.note(recorded, before, only(row, recorded.columns));
    return only(row, returning);
  }

  override async updateMany(update: Narrowed<UpdateMany>): Promise<number> {
    const reached = await this.reached(update);
    const recorded = this.recorded(update);
    const named = { key: update.key, values: update.rows.map(({ keyValue }) => keyValue) };
    const before = recorded ? await this.images(recorded, named) : [];
    const matched = await this.queries.updateMany(update);
    if (recorded && isNamedBy(recorded, update)) await this.noteChanged(recorded, before);
    else if (recorded)
      reached.push({ recorded, before, after: await this.images(recorded, named) });
    await this.noteReached(reached);
    return matched;
  }

  override async calculate(statement: Narrowed<Calculate>): Promise<void> {
    const recorded = this.recorded(statement);
    if (recorded === undefined) return this.queries.calculate(statement);
    const before = await this.lock(recorded, statement.where);
    await this.queries.calculate(statement);
    await this.noteChanged(recorded, before);
  }

  override async delete(statement: Narrowed<Delete>): Promise<Row[]> {
    const { returning } = statement;
    const recorded = this.recorded(statement);
    const reached = await this.reached(statement);
    const gone = await this.queries.delete({
      ...statement,
      returning: recorded ? union(returning, recorded.columns) : returning,
    });
    if (recorded)
      for (const row of gone) this.book.note(recorded, only(row, recorded.columns), null);
    await this.noteReached(reached, true);
    return recorded ? gone.map((row) => only(row, returning)) : gone;
  }

  private recorded({ table }: { readonly table: Table }): RecordedTable | undefined {
    return this.layer.recorded.get(table.identity);
  }

  private recordedIn({ source, columns }: Select): RecordedTable | undefined {
    const identity = source.kind === "table" ? source.identity : undefined;
    const isPlain = columns.every(({ via, derived, markOf }) => !via && !derived && !markOf);
    return identity === undefined || !isPlain ? undefined : this.layer.recorded.get(identity);
  }

  /** The rows with these keys as they are now; they are locked. */
  private async images(
    recorded: RecordedTable,
    { key, values }: { key: UpdateOne["key"]; values: readonly KeyValue[] },
  ): Promise<Row[]> {
    const known = isNamedBy(recorded, { key })
      ? values.map((value) => this.book.imageOf(recorded, value))
      : values.map(() => undefined);
    const images = known.filter((image) => image !== undefined && image !== null);
    const open = values.filter((_, at) => known[at] === undefined);
    for (const some of keyBatches(key, open))
      images.push(...(await this.lock(recorded, keyIn(key, some))));
    return images;
  }

  private lock(recorded: RecordedTable, where: Condition): Promise<Row[]> {
    const sort = recorded.key.map((column) => ({ column, direction: "asc" }) as const);
    return this.own.all(
      selectFrom(sourceOf(recorded.table), { columns: recorded.columns, where, sort, lock: true }),
    );
  }

  private async noteChanged(recorded: RecordedTable, before: readonly Row[]): Promise<void> {
    const old = new Map(before.map((row) => [keyText(imageKey(recorded, row)), row]));
    for (const row of await this.present(recorded, before)) {
      const was = old.get(keyText(imageKey(recorded, row)));
      if (was !== undefined) this.book.note(recorded, was, row);
    }
  }

  /** The rows with the keys of these ones, as they are now. */
  private async present(recorded: RecordedTable, rows: readonly Row[]): Promise<Row[]> {
    const { table, key, columns } = recorded;
    const keys = new Map(
      rows.map((row) => imageKey(recorded, row)).map((value) => [keyText(value), value]),
    );
    const found: Row[] = [];
    for (const some of keyBatches(key, [...keys.values()]))
      found.push(
        ...(await this.own.all(selectFrom(sourceOf(table), { columns, where: keyIn(key, some) }))),
      );
    return found;
  }

  /** The recorded rows that the database changes by itself with the statement. */
  private async reached(statement: Delete | UpdateOne | UpdateMany): Promise<ReachedRows[]> {
    const found: ReachedRows[] = [];
    const { cascades, recorded } = this.layer;
    const reaching = { cascades, queries: this.own };
    await visitCascades(reaching, statement, async ({ cascade, where, moved }) => {
      const child = recorded.get(cascade.table.identity);
      if (child === undefined) return;
      const before = await this.lock(child, where);
      const after = cascade.effect === "delete" ? null : before.map(moved);
      found.push({ recorded: child, before, after });
    });
    return found;
  }

  private async noteReached(reached: readonly ReachedRows[], isCascade = false): Promise<void> {
    const present: { recorded: RecordedTable; row: Row }[] = [];
    for (const { recorded, before, after } of reached) {
      // Only the database knows what it stored: a default, or only some of the columns.
      const rows = after === null ? [] : await this.present(recorded, [...before, ...after]);
      const now = new Map(rows.map((row) => [keyText(imageKey(recorded, row)), row]));
      for (const was of before)
        this.book.note(recorded, was, now.get(keyText(imageKey(recorded, was))) ?? null, isCascade);
      present.push(...rows.map((row) => ({ recorded, row })));
    }
    // Last, because a row may now have the key that another one had.
    for (const { recorded, row } of present) this.book.note(recorded, null, row, isCascade);
  }
}

/** Whether a statement names rows by the key under which they are recorded, and not by that of another endpoint. */
const isNamedBy = (recorded: RecordedTable, { key }: Pick<UpdateMany, "key">): boolean =>
  key.length === recorded.key.length && key.every((one, at) => one.name === recorded.key[at]!.name);

/** Rows of a recorded table whose keys may change, as in those that the database changes by itself. */
interface ReachedRows {
  readonly recorded: RecordedTable;
  readonly before: readonly Row[];
  /** As far as is known, for the sake of their keys; null = they are deleted. */
  readonly after: readonly Row[] | null;
}

class RecordingSession extends PassingSession<Recording> {
  protected concerns(statement: RowWrite): boolean {
    const { recorded, cascades } = this.layer.tables;
    return recorded.has(statement.table.identity) || hasCascades(cascades, statement);
  }

  async tx<T>(work: (tx: DbTransaction) => Promise<T>, options?: TransactionOptions): Promise<T> {
    const { tables, author, committed } = this.layer;
    const ledgers = new Map<LedgerName, () => Table>();
    for (const name of ledgersOf(tables)) ledgers.set(name, await this.ledgerFor(name));
    let isTold = false;
    const result = await this.session.tx(async (tx) => {
      const recording = new RecordingTransaction(tx, tables);
      const done = await work(recording);
      const { changes } = recording.book;
      isTold = changes.some(
        ({ recorded, before, after }) =>
          recorded.isLive && changeKind(recorded, before, after) !== null,
      );
      const ledger = (name: LedgerName) => ledgers.get(name)?.() ?? null;
      await storeRecorded(tx, { tables, changes, author, ledger });
      return done;
    }, options);
    if (isTold && options?.isUndone !== true) committed();
    return result;
  }

  override async updateOne(update: Narrowed<UpdateOne>): Promise<Row | null> {
    const telling = await this.telling(update, (recorded) => updatesTold(recorded, update));
    if (telling === null) return super.updateOne(update);
    const row = await this.session.updateOne(loggedUpdate(update, telling));
    if (telling.recorded.isLive && row !== null) this.layer.committed();
    return row;
  }

  override async insert(insert: Narrowed<Insert>): Promise<Row[]> {
    const telling = await this.telling(insert, (recorded) => insertsTold(recorded, insert));
    if (telling === null) return super.insert(insert);
    const rows = await this.session.insert(loggedInsert(insert, telling));
    if (telling.recorded.isLive) this.layer.committed();
    return rows;
  }

  /** What the write tells by itself; null = it takes a transaction, or is not recorded. */
  private async telling(
    write: RowWrite,
    isTold: (recorded: RecordedTable) => boolean,
  ): Promise<ToldWrite | null> {
    const { tables, author } = this.layer;
    const recorded = tables.recorded.get(write.table.identity);
    if (recorded === undefined || hasCascades(tables.cascades, write)) return null;
    const told = toldOf(recorded, this.session);
    if (told === null || !isTold(recorded) || isSweepDue(tables)) return null;
    const ledger = await this.session.ledger("changes").catch(() => null);
    return ledger && { ...told, recorded, ledger, author };
  }

  protected over(session: DbSession): DbSession {
    return new RecordingSession(session, this.layer);
  }
}
