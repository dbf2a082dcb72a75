/**
 * Adds a caller's scope to every statement before `db` gets it: to reads, counts, updates and deletes, and to joined
 * tables. Written rows are checked again, so that no row leaves the scope. This is the only place that creates
 * `Narrowed` statements; the exceptions are listed in `passages.ts`.
 */
import type { Column, Source, Table } from "../values/column.ts";
import { AppError } from "../values/errors.ts";
import { limits } from "../values/limits.ts";
import { comparand } from "../query/where.ts";
import type { DbQueries, DbSession, DbTransaction, LedgerName, Row } from "../plans/ports.ts";
import {
  type Aggregate,
  allOf,
  type Ask,
  type Assignment,
  type Calculate,
  type Condition,
  type Count,
  type Delete,
  equals,
  type Insert,
  type Narrowed,
  type Native,
  type Select,
  sourceOf,
  type UpdateMany,
  type UpdateOne,
} from "../query/statement.ts";
import type { Scalar } from "../values/scalar.ts";
import { keyBatches, keyIn } from "../query/key-conditions.ts";
import { type Key, keyText, type KeyValue } from "../values/key.ts";
import type { Passage } from "./passages.ts";
import type { Scope } from "./scope.ts";
import type { Queries, Session, Snapshot, Transaction, UnscopedQueries } from "./session.ts";

/** The session restricted to the scope. Without restrictions it is the session itself, at no cost. */
export function scopedSession(session: DbSession, scope: Scope): Session {
  return scope.isWhole ? (session as unknown as Session) : new ScopedSession(session, scope);
}

/** The same queries without the scope. `passage` names the entry of the list that says why this is safe. */
export function past(queries: Pick<Queries, "one">, passage: Passage): UnscopedQueries {
  if (!(queries instanceof ScopedQueries)) return queries as UnscopedQueries;
  return passage === "details" ? queries.ofDetails : queries.unscoped;
}

/** Whether there may be rows that the queries do not see. */
export const isScoped = (queries: Queries): boolean => queries instanceof ScopedQueries;

const narrowed = <Statement>(statement: Statement): Narrowed<Statement> =>
  statement as Narrowed<Statement>;

interface Sourced {
  readonly source: Source;
  readonly where: Condition | null;
}

const narrowTo = <Asked extends Sourced>(scope: Scope, statement: Asked): Narrowed<Asked> =>
  narrowed({ ...statement, where: allOf(statement.where, scope.rowsOf(statement.source)) });

class ScopedQueries implements Queries {
  protected readonly queries: DbQueries;
  protected readonly scope: Scope;

  constructor(queries: DbQueries, scope: Scope) {
    this.queries = queries;
    this.scope = scope;
  }

  get unscoped(): UnscopedQueries {
    return this.queries as unknown as UnscopedQueries;
  }

  /** Details belong to their header, but the rows that they reference are still checked. */
  get ofDetails(): UnscopedQueries {
    return new DetailQueries(this.queries, { ...this.scope, rowsOf: () => null });
  }

  all(select: Select): Promise<Row[]> {
    return this.queries.all(this.narrow(select));
  }

  one(select: Select): Promise<Row | null> {
    return this.queries.one(this.narrow(select));
  }

  count(count: Count): Promise<number> {
    return this.queries.count(this.narrow(count));
  }

  /** None where rows are hidden: a planner's figure comes from statistics of the whole table, and would tell of the others. */
  estimate(count: Count): Promise<number | null> {
    if (this.scope.rowsOf(count.source) !== null) return Promise.resolve(null);
    return this.queries.estimate(this.narrow(count));
  }

  aggregate(aggregate: Aggregate): Promise<Row[]> {
    if (aggregate.joins.length === 0) return this.queries.aggregate(this.narrow(aggregate));
    // The condition is applied before the join: after it, an outer join would have too few or too many rows.
    const joins = aggregate.joins.map((join) => ({
      ...join,
      rows: allOf(join.rows, this.scope.rowsOf(join.source)),
    }));
    const rows = allOf(aggregate.rows, this.scope.rowsOf(aggregate.source));
    return this.queries.aggregate(narrowed({ ...aggregate, rows, joins }));
  }

  async insert(insert: Insert): Promise<Row[]> {
    const { table, key, columns, rows, returning } = insert;
    const within = this.within(table);
    await this.mustReferToSeen(table, { columns, rows });
    if (within === null) return this.queries.insert(narrowed(insert));
    if (key.length === 0)
      throw new AppError("forbidden", "Records without a key cannot be held against your rows");
    const answered = [...new Set([...returning, ...key])];
    const stored = await this.queries.insert(narrowed({ ...insert, returning: answered }));
    const places = key.map((column) => columns.indexOf(column));
    const keys = stored.map((row, index) =>
      key.map((column, part) => {
        const at = places[part]!;
        return at >= 0 ? rows[index]![at]! : comparand(column, row[column.name]);
      }),
    );
    await this.mustLieWithin({ table, key, keys }, within);
    for (const column of key)
      if (!returning.includes(column)) for (const row of stored) delete row[column.name];
    return stored;
  }

  async updateOne(update: UpdateOne): Promise<Row | null> {
    const { table, key, keyValue, guard, set } = update;
    const within = this.within(table);
    const guarded = allOf(guard, within);
    try {
      await this.mustReferToSeen(table, assigned(set));
    } catch (error) {
      const where = allOf(keyIn(key, [keyValue]), guarded);
      const source = sourceOf(table);
      if ((await this.queries.count(narrowed({ kind: "count", source, where }))) === 0) return null;
      throw error;
    }
    const row = await this.queries.updateOne(narrowed({ ...update, guard: guarded }));
    if (row === null || within === null || !mayMove(set.map(columnOf), within)) return row;
    const moved = key.map((column, at) => {
      const change = set.find((one) => one.kind === "set" && one.column === column);
      return change?.kind === "set" ? change.value : keyValue[at]!;
    });
    const keys = [moved];
    await this.mustLieWithin({ table, key, keys }, within);
    return row;
  }

  async updateMany(update: UpdateMany): Promise<number> {
    const { table, key, columns, rows, guard, set } = update;
    const within = this.within(table);
    await this.mustReferToSeen(table, { columns, rows: rows.map(({ values }) => values) });
    await this.mustReferToSeen(table, assigned(set));
    const matched = await this.queries.updateMany(
      narrowed({ ...update, guard: allOf(guard, within) }),
    );
    if (within === null || !mayMove([...columns, ...set.map(columnOf)], within)) return matched;
    await this.mustLieWithin({ table, key, keys: rows.map(({ keyValue }) => keyValue) }, within);
    return matched;
  }

  calculate(statement: Calculate): Promise<void> {
    const where = allOf(statement.where, this.within(statement.table))!;
    return this.queries.calculate(narrowed({ ...statement, where }));
  }

  delete(statement: Delete): Promise<Row[]> {
    const where = allOf(statement.where, this.within(statement.table))!;
    return this.queries.delete(narrowed({ ...statement, where }));
  }

  private narrow<Asked extends Sourced>(statement: Asked): Narrowed<Asked> {
    return narrowTo(this.scope, statement);
  }

  /** The rows of the table that are in the scope; null = all. */
  protected within(table: Table): Condition | null {
    return this.scope.rowsOf(sourceOf(table));
  }

  /** Whether a write to the table needs other statements for its checks, and so a transaction. */
  protected isChecked(table: Table): boolean {
    return this.within(table) !== null || referencesOf(table, this.scope).length > 0;
  }

  /**
   * Rejects with `foreignKeyMissing` when a written value references a row that the caller may not see, or that does not
   * exist. It is asked before the write: SQLite does not say which of several references broke, so that a missing row would
   * be answered in another way than a hidden one. Rows of the same statement are not there yet.
   */
  private async mustReferToSeen(table: Table, written: Written): Promise<void> {
    for (const { columns, target } of referencesOf(table, this.scope)) {
      const isOwnTable = target.table.identity === table.identity;
      const own = new Set(
        isOwnTable ? tuplesOf(written, target.keys.map(nameOf)).map(tupleText) : [],
      );
      const tuples = tuplesOf(written, columns).filter(
        (values) => !values.includes(null) && !own.has(tupleText(values)),
      );
      if (!(await this.areAllSeen(tuples, target)))
        throw new AppError("foreignKeyMissing", "A referenced record does not exist", {
          errors: Object.fromEntries(columns.map((name) => [name, ["does not exist"]])),
        });
    }
  }

  private async areAllSeen(
    tuples: readonly (readonly Scalar[])[],
    { table, keys, rows }: ReferredRows,
  ): Promise<boolean> {
    const seen = (where: Condition): Promise<number> =>
      this.queries.count(
        narrowed({ kind: "count", source: sourceOf(table), where: allOf(where, rows) }),
      );
    const [key] = keys;
    for (let at = 0; at < tuples.length && keys.length === 1; at += limits.inValuesMax) {
      const some = tuples.slice(at, at + limits.inValuesMax);
      const values = some.map(([value]) => value!);
      if ((await seen({ kind: "in", column: key!, values, negated: false })) < values.length)
        return this.areSeenOneByOne(some, { keys, seen });
    }
    return keys.length === 1 || this.areSeenOneByOne(tuples, { keys, seen });
  }

  /** Two values may reference one row when the database ignores case. Then there are fewer rows than values. */
  private async areSeenOneByOne(
    tuples: readonly (readonly Scalar[])[],
    { keys, seen }: { keys: readonly Column[]; seen: (where: Condition) => Promise<number> },
  ): Promise<boolean> {
    for (const values of tuples) {
      const where = allOf(...keys.map((column, at) => equals(column, values[at]!)));
      if ((await seen(where!)) === 0) return false;
    }
    return true;
  }

  /** Rejects with `forbidden`, which rolls the transaction back, unless all rows with these keys are in the scope. */
  private async mustLieWithin(
    { table, key, keys }: { table: Table; key: Key; keys: readonly KeyValue[] },
    within: Condition,
  ): Promise<void> {
    for (const values of keyBatches(key, keys)) {
      const where = allOf(keyIn(key, values), within);
      const inside = await this.queries.count(
        narrowed({ kind: "count", source: sourceOf(table), where }),
      );
      if (inside !== new Set(values.map(keyText)).size)
        throw new AppError("forbidden", "The record would be outside the rows that you may access");
    }
  }
}

class DetailQueries extends ScopedQueries implements UnscopedQueries {
  ask(ask: Ask): Promise<Row[]> {
    return this.queries.ask(narrowed(ask));
  }

  native(statement: Native): Promise<Row[]> {
    return this.queries.native(narrowed(statement));
  }
}

class ScopedTransaction extends ScopedQueries implements Transaction {
  private readonly tx: DbTransaction;

  constructor(tx: DbTransaction, scope: Scope) {
    super(tx, scope);
    this.tx = tx;
  }

  part<T>(work: () => Promise<T>): Promise<T> {
    return this.tx.part(work);
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

  tx<T>(
    work: (tx: Transaction) => Promise<T>,
    options?: { alone?: Table | undefined },
  ): Promise<T> {
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

  // A write with a check is two statements.
  override insert(insert: Insert): Promise<Row[]> {
    if (!this.isChecked(insert.table)) return super.insert(insert);
    return this.tx((tx) => tx.insert(insert));
  }

  override updateOne(update: UpdateOne): Promise<Row | null> {
    if (!this.isChecked(update.table)) return super.updateOne(update);
    return this.tx((tx) => tx.updateOne(update));
  }

  override updateMany(update: UpdateMany): Promise<number> {
    if (!this.isChecked(update.table)) return super.updateMany(update);
    return this.tx((tx) => tx.updateMany(update));
  }
}

/** Columns that a statement writes, and their values. */
interface Written {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Scalar[])[];
}

function assigned(set: readonly Assignment[]): Written {
  const given = set.filter((one) => one.kind === "set");
  return { columns: given.map(columnOf), rows: [given.map(({ value }) => value)] };
}

/** The rows that a foreign key may reference for this caller, and the referenced columns. */
interface ReferredRows {
  readonly table: Table;
  readonly keys: readonly Column[];
  readonly rows: Condition;
}

interface Reference {
  readonly columns: readonly string[];
  readonly target: ReferredRows;
}

/** The foreign keys of the table that may not reference every row. */
function referencesOf({ foreignKeys }: Table, scope: Scope): readonly Reference[] {
  if (foreignKeys.length === 0) return none;
  return foreignKeys.flatMap((key) => {
    const referred = scope.referredRows(key);
    if (referred === null) return [];
    const keys = key.referencedColumns.map((name) => referred.table.columns.get(name));
    return keys.every((column) => column !== undefined)
      ? [{ columns: key.columns, target: { ...referred, keys } }]
      : [];
  });
}

const none: readonly Reference[] = [];

const nameOf = ({ name }: Column): string => name;

/** The different values of these columns; none unless all of them are written. */
function tuplesOf({ columns, rows }: Written, names: readonly string[]): (readonly Scalar[])[] {
  const places = names.map((name) => columns.findIndex((column) => column.name === name));
  if (places.includes(-1)) return [];
  const tuples = rows.map((row) => places.map((place) => row[place] ?? null));
  return [...new Map(tuples.map((values) => [tupleText(values), values])).values()];
}

const tupleText = (values: readonly Scalar[]): string => values.map(String).join("\0");

const columnOf = ({ column }: Assignment): Column => column;

/** Whether a change of these columns can move a row out of the scope. */
const mayMove = (columns: readonly Column[], within: Condition): boolean =>
  "members" in within
    ? within.members.some((member) => mayMove(columns, member))
    : columns.some(({ name }) => name === within.column.name);
