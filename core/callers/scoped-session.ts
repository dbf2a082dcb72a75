/**
 * Adds a caller's scope to every statement before `db` gets it: to reads, counts, updates and deletes, and to joined
 * tables. Written rows are checked again, so that no row leaves the scope. Only this file and `narrow.ts` create
 * `Narrowed` statements; the exceptions are listed in `passages.ts`.
 */
import type { Source, Table } from "../values/types/column.ts";
import { AppError } from "../values/errors.ts";
import type {
  DbQueries,
  DbSession,
  DbTransaction,
  LedgerName,
  Queries,
  ReadQueries,
  Session,
  Snapshot,
  Transaction,
  PartOptions,
  TransactionOptions,
  UnscopedQueries,
} from "../query/session.ts";
import type { Row } from "../values/row.ts";
import type { ListText, TextForm } from "../query/list-text.ts";
import {
  type Aggregate,
  allOf,
  type Ask,
  type Calculate,
  type Condition,
  type Count,
  type Delete,
  type Insert,
  type Joining,
  type Native,
  type Select,
  sourceOf,
  type UpdateMany,
  type UpdateOne,
} from "../query/statement.ts";
import type { Scalar } from "../values/scalar.ts";
import { keyBatches, keyIn } from "../query/key-conditions.ts";
import { keyText } from "../values/types/key.ts";
import type { Passage } from "./passages.ts";
import { asNarrowed, namesRelated, narrowRelated, narrowTo, reachOf } from "./narrow.ts";
import {
  assigned,
  assignedColumn,
  assignedEach,
  type Changed,
  filledReferences,
  haveAllRows,
  keyAfter,
  type ReferredRows,
  limitedReferences,
  mayMove,
  storedKeys,
  tuplesOf,
  withOtherParts,
  withoutOwn,
  withStored,
  type WrittenValues,
} from "./referred-rows.ts";
import { keepingSuffixes, suffixing } from "./reused-values.ts";
import type { LineUse, Scope } from "./scope.ts";

/** The session restricted to the scope. Without restrictions it is the session itself, at no cost. */
export function scopedSession(session: DbSession, scope: Scope): Session {
  return scope.isWhole && !scope.hides && scope.related === null && scope.params === null
    ? (session as unknown as Session)
    : new ScopedSession(session, scope);
}

/** The same queries without the scope. `passage` names the entry of the list that says why this is safe. */
export function past(queries: Pick<Queries, "one">, passage: Passage): UnscopedQueries {
  if (!(queries instanceof ScopedQueries)) return queries as UnscopedQueries;
  if (passage === "readLines") return queries.linesFor("read");
  if (passage === "writtenLines") return queries.linesFor("write");
  return queries.queries as unknown as UnscopedQueries;
}

/** The lines of a header within the scope that its caller may use; null = all of them. */
export const scopeOfLines = (
  queries: Pick<Queries, "one">,
  source: Source,
  use: LineUse,
): Condition | null =>
  queries instanceof ScopedQueries ? queries.scope.linesOf(source, use) : null;

/** The rows of the source within the caller's scope, those marked as deleted among them; null = all. */
export const ownRowsOf = (queries: Pick<Queries, "one">, source: Source): Condition | null =>
  queries instanceof ScopedQueries ? queries.scope.rowsOf(source) : null;

/** Whether there may be rows of the source that the queries do not see. */
export const isScoped = (queries: Queries, source: Source): boolean =>
  queries instanceof ScopedQueries && reachOf(queries.scope, source) !== null;

/** The same queries over the rows of another scope; queries without a scope see all rows anyway. */
export const rescoped = <Some extends ReadQueries>(
  queries: Some,
  change: (scope: Scope) => Scope,
): Some | Queries => (queries instanceof ScopedQueries ? queries.over(change) : queries);

class ScopedQueries implements Queries {
  readonly queries: DbQueries;
  readonly scope: Scope;

  constructor(queries: DbQueries, scope: Scope) {
    this.queries = queries;
    this.scope = scope;
  }

  over(change: (scope: Scope) => Scope): Queries {
    return new ScopedQueries(this.queries, change(this.scope));
  }

  /** The rows that lines reference are checked like those of the header, and marked lines left out. */
  linesFor(use: LineUse): UnscopedQueries {
    const { scope } = this;
    const rowsOf = (source: Source): Condition | null => scope.linesOf(source, use);
    return new LineQueries(this.queries, { ...scope, rowsOf });
  }

  all(select: Select): Promise<Row[]> {
    return this.queries.all(narrowTo(this.scope, select));
  }

  allAsText(select: Select, form: TextForm): Promise<ListText> {
    return this.queries.allAsText(narrowTo(this.scope, select), form);
  }

  one(select: Select): Promise<Row | null> {
    return this.queries.one(narrowTo(this.scope, select));
  }

  count(count: Count): Promise<number> {
    return this.queries.count(narrowTo(this.scope, count));
  }

  /** Null if rows may be hidden: an estimate uses statistics of the whole table, and would reveal the hidden rows. */
  estimate(count: Count): Promise<number | null> {
    if (this.scope.rowsOf(count.source) !== null || namesRelated(count.where))
      return Promise.resolve(null);
    return this.queries.estimate(narrowTo(this.scope, count));
  }

  aggregate(aggregate: Aggregate): Promise<Row[]> {
    if (aggregate.joins.length === 0) {
      const { joins, ...asked } = aggregate;
      const { joins: paths, ...rest } = narrowTo<typeof asked & Joining>(this.scope, asked);
      return this.queries.aggregate(asNarrowed({ ...rest, joins, ...(paths && { paths }) }));
    }
    // The condition is applied before the join: after it, an outer join would have too few or too many rows.
    const joins = aggregate.joins.map((join) => ({
      ...join,
      rows: allOf(join.rows, reachOf(this.scope, join.source)),
    }));
    const rows = allOf(aggregate.rows, reachOf(this.scope, aggregate.source));
    const { joins: _, ...asked } = aggregate;
    const { joins: paths, ...rest } = narrowRelated<typeof asked & Joining>(this.scope, asked);
    return this.queries.aggregate(asNarrowed({ ...rest, rows, joins, ...(paths && { paths }) }));
  }

  async insert(insert: Insert): Promise<Row[]> {
    const { table, key, columns, rows, returning } = insert;
    const within = this.ownRows(table);
    const written = { columns, rows };
    await this.mustReferFirst(table, written);
    if (within !== null && key.length === 0)
      throw new AppError("forbidden", "Records without a key cannot be held against your rows");
    const filled = filledReferences(insert, this.scope);
    const more = [...(within === null ? [] : key), ...filled];
    const answered = [...new Set([...returning, ...more])];
    const stored = await this.sparing(table, written, () =>
      this.queries.insert(asNarrowed({ ...insert, returning: answered })),
    );
    await this.mustReferToSeen(table, withStored(written, filled, stored));
    if (within !== null)
      await this.mustLieWithin({ table, key, keys: storedKeys(insert, stored) }, within);
    for (const column of more)
      if (!returning.includes(column)) for (const row of stored) delete row[column.name];
    return stored;
  }

  async updateOne(asked: UpdateOne): Promise<Row | null> {
    const update = await keepingSuffixes(this, asked);
    const { table, key, keyValue, guard, set } = update;
    const within = this.ownRows(table);
    const reached = allOf(guard, reachOf(this.scope, sourceOf(table)));
    const written = await this.whole({ table, key, keys: [keyValue] }, assigned(set));
    try {
      await this.mustReferFirst(table, written);
    } catch (error) {
      const [source, where] = [sourceOf(table), allOf(keyIn(key, [keyValue]), reached)];
      if ((await this.queries.count(asNarrowed({ kind: "count", source, where }))) === 0)
        return null;
      throw error;
    }
    const row = await this.sparing(table, written, () =>
      this.queries.updateOne(asNarrowed({ ...update, guard: reached })),
    );
    if (row !== null) await this.mustReferToSeen(table, written);
    if (row === null || within === null || !mayMove(set.map(assignedColumn), within)) return row;
    await this.mustLieWithin({ table, key, keys: [keyAfter(update)] }, within);
    return row;
  }

  async updateMany(asked: UpdateMany): Promise<number> {
    const update = await keepingSuffixes(this, asked);
    const { table, key, columns, rows, guard, set } = update;
    const within = this.ownRows(table);
    const keys = rows.map(({ keyValue }) => keyValue);
    const reached = allOf(guard, reachOf(this.scope, sourceOf(table)));
    const written = await this.whole({ table, key, keys }, assignedEach(update));
    await this.mustReferFirst(table, written);
    const matched = await this.sparing(table, written, () =>
      this.queries.updateMany(asNarrowed({ ...update, guard: reached })),
    );
    await this.mustReferToSeen(table, written);
    if (within !== null && mayMove([...columns, ...set.map(assignedColumn)], within))
      await this.mustLieWithin({ table, key, keys }, within);
    return matched;
  }

  calculate(statement: Calculate): Promise<void> {
    const where = allOf(statement.where, reachOf(this.scope, sourceOf(statement.table)))!;
    return this.queries.calculate(asNarrowed({ ...statement, where }));
  }

  delete(statement: Delete): Promise<Row[]> {
    const where = allOf(statement.where, reachOf(this.scope, sourceOf(statement.table)))!;
    return this.queries.delete(asNarrowed({ ...statement, where }));
  }

  /** The rows of the table that are the caller's; null = all. A written row must be one of them. */
  protected ownRows(table: Table): Condition | null {
    return this.scope.rowsOf(sourceOf(table));
  }

  /** Whether the write reads rows before or afterwards, which needs a transaction. */
  protected readsRows(write: Insert | UpdateOne | UpdateMany): boolean {
    const { scope } = this;
    const isChecked =
      this.ownRows(write.table) !== null || limitedReferences(write.table, scope).length > 0;
    return isChecked || (write.kind !== "insert" && suffixing(scope, write) !== null);
  }

  /** A part of a foreign key is compared together with what its record stores in the others. */
  private whole(changed: Changed, written: WrittenValues): Promise<WrittenValues> {
    const all = (select: Select): Promise<Row[]> => this.queries.all(asNarrowed(select));
    return withOtherParts({ all }, { ...changed, scope: this.scope }, written);
  }

  /**
   * The same check before a write that could violate several foreign keys. SQLite does not say which one is violated,
   * so missing and hidden rows would get different answers, which would reveal the rows that exist.
   */
  private async mustReferFirst(table: Table, written: WrittenValues): Promise<void> {
    if (table.foreignKeys.length > 1) await this.mustReferToSeen(table, written, false);
  }

  /** That a record is closed is only told of those that the caller may see: others do not exist for it. */
  private async sparing<T>(
    table: Table,
    written: WrittenValues,
    write: () => Promise<T>,
  ): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (error instanceof AppError && error.kind === "recordClosed")
        await this.mustReferToSeen(table, written, false);
      throw error;
    }
  }

  /**
   * Rejects with `foreignKeyMissing`, which rolls the transaction back, when a written value references a row that the
   * caller may not see.
   */
  private async mustReferToSeen(
    table: Table,
    written: WrittenValues,
    isStored = true,
  ): Promise<void> {
    for (const { columns, target } of limitedReferences(table, this.scope)) {
      const given = tuplesOf(written, columns).filter((values) => !values.includes(null));
      const isOwn = !isStored && target.table.identity === table.identity;
      const tuples = isOwn ? withoutOwn(given, target, written) : given;
      if (await this.areAllSeen(tuples, target, target.rows)) continue;
      const { besidePaths } = target;
      if (besidePaths !== undefined && (await this.areAllSeen(tuples, target, besidePaths)))
        throw new AppError("forbidden", "The record would refer to a record that you may not use");
      throw new AppError("foreignKeyMissing", "A referenced record does not exist", {
        errors: Object.fromEntries(columns.map((name) => [name, ["does not exist"]])),
      });
    }
  }

  private areAllSeen(
    tuples: readonly (readonly Scalar[])[],
    target: ReferredRows,
    rows: Condition | null,
  ): Promise<boolean> {
    const source = sourceOf(target.table);
    return haveAllRows(tuples, target, (where) =>
      this.queries.count(asNarrowed({ kind: "count", source, where: allOf(where, rows) })),
    );
  }

  /** Rejects with `forbidden`, which rolls the transaction back, unless all rows with these keys are in the scope. */
  private async mustLieWithin({ table, key, keys }: Changed, within: Condition): Promise<void> {
    for (const values of keyBatches(key, keys)) {
      const where = allOf(keyIn(key, values), within);
      const inside = await this.queries.count(
        asNarrowed({ kind: "count", source: sourceOf(table), where }),
      );
      if (inside !== new Set(values.map(keyText)).size)
        throw new AppError("forbidden", "The record would be outside the rows that you may access");
    }
  }
}

class LineQueries extends ScopedQueries implements UnscopedQueries {
  async ask(ask: Ask): Promise<Row[]> {
    const rows = await this.queries.ask(asNarrowed(ask));
    return rows.filter((row) => this.scope.seesRow(ask.about, row));
  }

  native(statement: Native): Promise<Row[]> {
    return this.queries.native(asNarrowed(statement));
  }
}

class ScopedTransaction extends ScopedQueries implements Transaction {
  private readonly tx: DbTransaction;

  constructor(tx: DbTransaction, scope: Scope) {
    super(tx, scope);
    this.tx = tx;
  }

  part<T>(work: () => Promise<T>, options?: PartOptions): Promise<T> {
    return this.tx.part(work, options);
  }
}

class ScopedSession extends ScopedQueries implements Session {
  private readonly session: DbSession;

  constructor(session: DbSession, scope: Scope) {
    super(session, scope);
    this.session = session;
  }

  get written(): ReadonlySet<Table | "unknown"> {
    return this.session.written;
  }

  tx<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T> {
    return this.session.tx((tx) => work(new ScopedTransaction(tx, this.scope)), options);
  }

  snapshot<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    return this.session.snapshot((queries) => work(new ScopedQueries(queries, this.scope)));
  }

  ledger(name: LedgerName): Promise<Table> {
    return this.session.ledger(name);
  }

  stream(select: Select, options: { batchRows: number }): AsyncIterable<Row[]> {
    return this.session.stream(narrowTo(this.scope, select), options);
  }

  longSnapshot<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    const { scope } = this;
    return this.session.longSnapshot((snapshot) =>
      work({
        count: (count) => snapshot.count(narrowTo(scope, count)),
        stream: (select, options) => snapshot.stream(narrowTo(scope, select), options),
      }),
    );
  }

  // A write that reads rows too is several statements.
  override insert(insert: Insert): Promise<Row[]> {
    if (!this.readsRows(insert)) return super.insert(insert);
    return this.tx((tx) => tx.insert(insert), { isQuick: true });
  }

  override updateOne(update: UpdateOne): Promise<Row | null> {
    if (!this.readsRows(update)) return super.updateOne(update);
    return this.tx((tx) => tx.updateOne(update), { isQuick: true });
  }

  override updateMany(update: UpdateMany): Promise<number> {
    if (!this.readsRows(update)) return super.updateMany(update);
    return this.tx((tx) => tx.updateMany(update), { isQuick: true });
  }
}
