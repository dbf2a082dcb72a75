/** Sessions that hand every call on as it is: what a layer of the session begins with, to change some of them. */
import type { Row } from "../values/row.ts";
import type { Column, Table } from "../values/types/column.ts";
import type { ListText, TextForm } from "./list-text.ts";
import type {
  DbQueries,
  DbSession,
  DbSnapshot,
  DbTransaction,
  JoinOptions,
  LedgerName,
  PartOptions,
  TransactionOptions,
  UnscopedQueries,
} from "./session.ts";
import type {
  Aggregate,
  Ask,
  Calculate,
  Count,
  Delete,
  Insert,
  Narrowed,
  Native,
  Select,
  UpdateMany,
  UpdateOne,
} from "./statement.ts";

/** A statement that writes rows of one table. */
export type RowWrite = Insert | UpdateOne | UpdateMany | Calculate | Delete;

export class PassingQueries implements DbQueries {
  protected readonly queries: DbQueries;
  /** The same, for statements about all rows, also those that the caller may not see. */
  protected readonly own: UnscopedQueries;

  constructor(queries: DbQueries) {
    this.queries = queries;
    this.own = queries as unknown as UnscopedQueries;
  }

  all(select: Narrowed<Select>): Promise<Row[]> {
    return this.queries.all(select);
  }

  one(select: Narrowed<Select>): Promise<Row | null> {
    return this.queries.one(select);
  }

  allAsText(select: Narrowed<Select>, form: TextForm): Promise<ListText> {
    return this.queries.allAsText(select, form);
  }

  count(count: Narrowed<Count>): Promise<number> {
    return this.queries.count(count);
  }

  estimate(count: Narrowed<Count>): Promise<number | null> {
    return this.queries.estimate(count);
  }

  aggregate(aggregate: Narrowed<Aggregate>): Promise<Row[]> {
    return this.queries.aggregate(aggregate);
  }

  ask(ask: Narrowed<Ask>): Promise<Row[]> {
    return this.queries.ask(ask);
  }

  native(statement: Narrowed<Native>): Promise<Row[]> {
    return this.queries.native(statement);
  }

  insert(insert: Narrowed<Insert>): Promise<Row[]> {
    return this.queries.insert(insert);
  }

  updateOne(update: Narrowed<UpdateOne>): Promise<Row | null> {
    return this.queries.updateOne(update);
  }

  updateMany(update: Narrowed<UpdateMany>): Promise<number> {
    return this.queries.updateMany(update);
  }

  calculate(statement: Narrowed<Calculate>): Promise<void> {
    return this.queries.calculate(statement);
  }

  delete(statement: Narrowed<Delete>): Promise<Row[]> {
    return this.queries.delete(statement);
  }

  tells(table: Table, columns: readonly Column[]): boolean {
    return this.queries.tells(table, columns);
  }
}

/** `Layer`: what the layer needs to know. */
export class PassingTransaction<Layer> extends PassingQueries implements DbTransaction {
  protected readonly tx: DbTransaction;
  protected readonly layer: Layer;

  constructor(tx: DbTransaction, layer: Layer) {
    super(tx);
    this.tx = tx;
    this.layer = layer;
  }

  async part<T>(work: () => Promise<T>, options?: PartOptions): Promise<T> {
    const undo = this.mark();
    try {
      return await this.tx.part(work, options);
    } catch (error) {
      undo(error);
      throw error;
    }
  }

  /** Returns what to call when the part of the transaction that begins now was rolled back. */
  protected mark(): (error: unknown) => void {
    return () => {};
  }

  last<T>(work: () => Promise<T>): Promise<T> {
    return this.tx.last(work);
  }

  both<A, B>(first: () => Promise<A>, second: () => Promise<B>): Promise<[A, B]> {
    return this.tx.both(first, second);
  }
}

/** Writes to the tables that concern a layer become transactions; all others go to the session below. */
export abstract class PassingSession<Layer> extends PassingQueries implements DbSession {
  protected readonly session: DbSession;
  protected readonly layer: Layer;

  constructor(session: DbSession, layer: Layer) {
    super(session);
    this.session = session;
    this.layer = layer;
  }

  /** Whether the write is the layer's business. */
  protected abstract concerns(statement: RowWrite): boolean;
  abstract tx<T>(work: (tx: DbTransaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** The same layer over another session. */
  protected abstract over(session: DbSession): DbSession;

  get written(): ReadonlySet<Table | "unknown"> {
    return this.session.written;
  }

  snapshot<T>(work: (queries: DbQueries) => Promise<T>): Promise<T> {
    return this.session.snapshot(work);
  }

  ledger(name: LedgerName): Promise<Table> {
    return this.session.ledger(name);
  }

  /**
   * The table, or the failure to make it, once it is needed. Asked for before a transaction: making a table takes a
   * connection, and the only one that writes may be taken.
   */
  protected ledgerFor(name: LedgerName): Promise<() => Table> {
    return this.session.ledger(name).then(
      (table) => () => table,
      (error: unknown) => () => {
        throw error;
      },
    );
  }

  stream(select: Narrowed<Select>, options: { batchRows: number }): AsyncIterable<Row[]> {
    return this.session.stream(select, options);
  }

  longSnapshot<T>(work: (snapshot: DbSnapshot) => Promise<T>): Promise<T> {
    return this.session.longSnapshot(work);
  }

  join<T>(work: (joined: DbSession) => Promise<T>, options: JoinOptions): Promise<T> {
    return this.session.join((joined) => work(this.over(joined)), options);
  }

  override insert(insert: Narrowed<Insert>): Promise<Row[]> {
    return this.atomically(insert, (queries) => queries.insert(insert));
  }

  override updateOne(update: Narrowed<UpdateOne>): Promise<Row | null> {
    return this.atomically(update, (queries) => queries.updateOne(update));
  }

  override updateMany(update: Narrowed<UpdateMany>): Promise<number> {
    return this.atomically(update, (queries) => queries.updateMany(update));
  }

  override calculate(statement: Narrowed<Calculate>): Promise<void> {
    return this.atomically(statement, (queries) => queries.calculate(statement));
  }

  override delete(statement: Narrowed<Delete>): Promise<Row[]> {
    return this.atomically(statement, (queries) => queries.delete(statement));
  }

  private atomically<T>(statement: RowWrite, work: (queries: DbQueries) => Promise<T>): Promise<T> {
    return this.concerns(statement) ? this.tx(work, { isQuick: true }) : work(this.queries);
  }
}
