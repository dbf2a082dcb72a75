/**
 * A session that keeps closed records, and their details, as they are, and leaves statuses to change-status. It locks
 * what it looks at in the transaction of the write, so that no detail is stored while its document is being closed. It
 * sits below scope and totals, so no code that writes rows needs to know about it. It does not see SQL of handlers.
 */
import type { Entity } from "../plans/entity.ts";
import {
  isClosed,
  isReserved,
  reservedMessage,
  type OwnerLink,
  type StatusTable,
  type StatusTables,
} from "../plans/status-tables.ts";
import { keyBatches, keyIn, keyIs } from "../query/key-conditions.ts";
import { PassingSession, PassingTransaction, type RowWrite } from "../query/passing-session.ts";
import type { DbSession, DbTransaction, TransactionOptions } from "../query/session.ts";
import {
  allOf,
  type Assignment,
  type Condition,
  type Delete,
  type Insert,
  type Narrowed,
  type Native,
  type Select,
  selectFrom,
  sourceOf,
  type UpdateMany,
  type UpdateOne,
} from "../query/statement.ts";
import { setTo } from "../query/write-statements.ts";
import { hasCascades, visitCascades } from "../totals/database-cascades.ts";
import { only, pinned, scalarFor, shownScalar, union } from "../totals/row-values.ts";
import { AppError, validationFailed } from "../values/errors.ts";
import type { Json } from "../values/json.ts";
import type { Row } from "../values/row.ts";
import type { Scalar } from "../values/scalar.ts";
import type { Column, Table } from "../values/types/column.ts";
import { keyText, type KeyValue } from "../values/types/key.ts";

/** The rules of the project, and the action that writes, with the table of its endpoint. */
interface Guarding {
  readonly tables: StatusTables;
  readonly action: string;
  readonly table: Table | undefined;
}

/** The session itself if no table of the project has such rules. */
export const statusSession = (
  session: DbSession,
  { entity: { statuses, write, insert }, action }: { entity: Entity; action: string },
): DbSession =>
  statuses.guarded.size === 0
    ? session
    : new StatusSession(session, { tables: statuses, action, table: (write ?? insert)?.table });

/** The rules that a write of one table meets. */
interface Met {
  readonly table: Table;
  readonly own: StatusTable | undefined;
  readonly links: readonly OwnerLink[];
}

class StatusTransaction extends PassingTransaction<Guarding> {
  /** Records that are locked and not closed, by the way to them. */
  private readonly open = new Map<OwnerLink, Set<string>>();

  /** The part's locks may have been released. */
  protected override mark(): () => void {
    return () => this.open.clear();
  }

  override native(statement: Narrowed<Native>): Promise<Row[]> {
    this.open.clear();
    return this.queries.native(statement);
  }

  /** Locks records before their details: all writers use this order. */
  override async all(select: Narrowed<Select>): Promise<Row[]> {
    await this.lockOwnersOf(select);
    return this.queries.all(select);
  }

  override async one(select: Narrowed<Select>): Promise<Row | null> {
    await this.lockOwnersOf(select);
    return this.queries.one(select);
  }

  override async insert(insert: Narrowed<Insert>): Promise<Row[]> {
    const met = this.rulesOf(insert);
    if (met === null) return this.queries.insert(insert);
    const { own, links } = met;
    const { returning } = insert;
    const filled: OwnerLink[] = [];
    for (const link of links) {
      const values = writtenKeys(link, insert);
      if (values === null) filled.push(link);
      else await this.refuseClosed(link, values);
    }
    const more = [...(own ? [own.status] : []), ...filled.flatMap((link) => link.columns)];
    const rows = await this.own.insert({ ...insert, returning: union(returning, more) });
    for (const link of filled) await this.refuseClosed(link, keysIn(link, rows));
    // As it is stored: the database can fill it, or write it in another way.
    if (own && rows.some((row) => isReserved(own, row[own.status.name] ?? null)))
      throw refusedStatus(own);
    return rows.map((row) => only(row, returning));
  }

  override async updateOne(update: Narrowed<UpdateOne>): Promise<Row | null> {
    const met = this.rulesOf(update);
    const { key, keyValue, guard, set } = update;
    if (met !== null) await this.admit(met, allOf(keyIs(key, keyValue), guard)!, set);
    await this.refuseCascades(update);
    return this.queries.updateOne(update);
  }

  override async updateMany(update: Narrowed<UpdateMany>): Promise<number> {
    const met = this.rulesOf(update);
    if (met !== null) await this.admitMany(met, update);
    await this.refuseCascades(update);
    return this.queries.updateMany(update);
  }

  private async admitMany(met: Met, update: UpdateMany): Promise<void> {
    const { key, columns, rows, guard, set } = update;
    const { own, links } = met;
    const written = { columns, rows: rows.map(({ values }) => values) };
    for (const link of links) await this.refuseClosed(link, writtenKeys(link, written) ?? []);
    // Rows that get the same status are compared together, and so are those that move in the same way.
    const partly = links.filter((link) => writtenKeys(link, written) === null);
    const names = union(
      own ? [own.status] : [],
      partly.flatMap((link) => link.columns),
    );
    const places = names.flatMap(({ name }) => {
      const at = columns.findIndex((column) => column.name === name);
      return at < 0 ? [] : [at];
    });
    const groups = Map.groupBy(rows, ({ values }) => keyText(places.map((at) => values[at]!)));
    for (const some of groups.values()) {
      const [{ values }] = some as [(typeof some)[0]];
      const given = places.map((at) => setTo(columns[at]!, values[at]!));
      const keys = some.map(({ keyValue }) => keyValue);
      for (const among of keyBatches(key, keys))
        await this.admit(met, allOf(keyIn(key, among), guard)!, [...set, ...given]);
    }
  }

  override async delete(statement: Narrowed<Delete>): Promise<Row[]> {
    const met = this.rulesOf(statement);
    if (met !== null) await this.admit(met, statement.where);
    await this.refuseCascades(statement);
    return this.queries.delete(statement);
  }

  private rulesOf({ table }: { readonly table: Table }): Met | null {
    const { guarded, owners } = this.layer.tables;
    const own = guarded.get(table.identity);
    const links = owners.get(table.identity) ?? [];
    return own === undefined && links.length === 0 ? null : { table, own, links };
  }

  private async lockOwnersOf(select: Narrowed<Select>): Promise<void> {
    const { source, where, lock } = select;
    if (!lock || source.kind !== "table") return;
    const links = this.layer.tables.owners.get(source.identity ?? "") ?? [];
    if (links.length > 0) await this.lockOwners(links, { ...select, where });
  }

  /**
   * Locks the rows that match, and the records that they are or become details of. Rejects when one of these is closed,
   * or when `set` changes a status and the action is another one than change-status.
   */
  private async admit(
    { table, own, links }: Met,
    where: Condition,
    set: readonly Assignment[] = [],
  ): Promise<void> {
    const select = selectFrom(sourceOf(table), { columns: [], where });
    const assigned = assignedIn(set);
    for (const link of links) await this.refuseClosed(link, writtenKeys(link, assigned) ?? []);
    const open = await this.lockOwners(links, select, true);
    const partly = links.filter((link) => !open.includes(link) && isPartly(link, assigned));
    const change = set.find(({ column }) => column.name === own?.status.name);
    const isStep = change !== undefined && this.layer.action === "change-status";
    const looks = own !== undefined && !isStep && (own.closed.size > 0 || change !== undefined);
    const moving = [...open, ...partly];
    if (!looks && moving.length === 0) return;
    const columns = union(
      looks ? [own.status] : [],
      moving.flatMap((link) => link.columns),
    );
    const rows = await this.own.all({ ...select, columns, lock: true });
    const moved = Object.fromEntries(
      assigned.columns.map(({ name }, at) => [name, shownScalar(assigned.rows[0]![at]!)]),
    );
    // They may have moved before they were locked.
    for (const link of moving)
      await this.refuseClosed(
        link,
        keysIn(link, [...rows, ...rows.map((row) => ({ ...row, ...moved }))]),
      );
    if (!looks) return;
    const statuses = rows.map((row) => row[own.status.name] ?? null);
    if (statuses.some((status) => isClosed(own, status))) throw recordClosed();
    if (change && statuses.some((status) => !keeps(change, status))) throw refusedStatus(own);
  }

  /** Rejects when the database itself would change a closed record, or details of one, with these rows. */
  private refuseCascades(statement: Delete | UpdateOne | UpdateMany): Promise<void> {
    const { cascades } = this.layer.tables;
    const reaching = { cascades, queries: this.own };
    return visitCascades(reaching, statement, async ({ cascade, where }) => {
      const met = this.rulesOf(cascade);
      if (met !== null) await this.admit(met, where);
    });
  }

  /**
   * Locks the records of which the selected rows are details. Returns the links whose records the condition does not
   * determine: for them, the rows were read without a lock.
   */
  private async lockOwners(
    links: readonly OwnerLink[],
    select: Select,
    refuses = false,
  ): Promise<readonly OwnerLink[]> {
    const fixed = links.map((link) => fixedKeys(link, select.where));
    const open = links.filter((_, at) => fixed[at] === null);
    const columns = union(
      [],
      open.flatMap((link) => link.columns),
    );
    const rows =
      open.length === 0 ? [] : await this.own.all({ ...select, columns, sort: [], lock: false });
    for (const [at, link] of links.entries())
      await this.lockOwner(link, fixed[at] ?? keysIn(link, rows), refuses);
    return open;
  }

  /** Whether the action writes these details with their document, which is the record that it is asked for. */
  private isOfDocument({ owner, columns }: OwnerLink): boolean {
    const { table } = this.layer;
    const isTree = columns.some((column) => owner.table.columns.get(column.name) === column);
    return table?.identity === owner.table.identity && !isTree;
  }

  private refuseClosed(link: OwnerLink, keys: readonly KeyValue[]): Promise<void> {
    return this.lockOwner(link, keys, true);
  }

  /** Locks the records with these keys; rejects, if `refuses`, when one of them is closed. */
  private async lockOwner(
    link: OwnerLink,
    keys: readonly KeyValue[],
    refuses: boolean,
  ): Promise<void> {
    const { owner, referenced } = link;
    const known = this.open.get(link) ?? new Set<string>();
    this.open.set(link, known);
    const asked = new Map(keys.map((key) => [keyText(key), key]));
    for (const text of asked.keys()) if (known.has(text)) asked.delete(text);
    const sort = referenced.map((column) => ({ column, direction: "asc" }) as const);
    for (const some of keyBatches(referenced, [...asked.values()])) {
      const rows = await this.own.all(
        selectFrom(sourceOf(owner.table), {
          columns: [owner.status],
          where: keyIn(referenced, some),
          sort,
          lock: true,
        }),
      );
      if (!rows.some((row) => isClosed(owner, row[owner.status.name] ?? null)))
        for (const key of some) known.add(keyText(key));
      else if (refuses) throw this.isOfDocument(link) ? recordClosed() : ownerClosed();
    }
  }
}

class StatusSession extends PassingSession<Guarding> {
  protected concerns(statement: RowWrite): boolean {
    const { guarded, owners, cascades } = this.layer.tables;
    const { identity } = statement.table;
    return guarded.has(identity) || owners.has(identity) || hasCascades(cascades, statement);
  }

  tx<T>(work: (tx: DbTransaction) => Promise<T>, options?: TransactionOptions): Promise<T> {
    return this.session.tx((tx) => work(new StatusTransaction(tx, this.layer)), options);
  }

  protected over(session: DbSession): DbSession {
    return new StatusSession(session, this.layer);
  }
}

const ownerClosed = (): AppError => recordClosed("The record belongs to a closed record");

const recordClosed = (message = "The record is closed"): AppError =>
  new AppError("recordClosed", `${message} and cannot be changed`);

const refusedStatus = ({ status }: StatusTable): AppError =>
  validationFailed({ [status.name]: [reservedMessage] });

/** Whether the assignment leaves the status as it is. */
const keeps = (change: Assignment, status: Json): boolean =>
  change.kind === "keep" ||
  (change.kind === "set" && textOf(shownScalar(change.value)) === textOf(status));

const textOf = (value: Json): string | null => (value === null ? null : String(value));

/** Columns that a statement writes, and their values. */
interface Written {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Scalar[])[];
}

function assignedIn(set: readonly Assignment[]): Written {
  const given = set.filter((one) => one.kind === "set");
  return { columns: given.map(({ column }) => column), rows: [given.map(({ value }) => value)] };
}

const isPartly = (link: OwnerLink, { columns }: Written): boolean =>
  link.columns.length > 1 &&
  columns.some(({ name }) => link.columns.some((one) => one.name === name));

/** The keys of owners in the rows, in the form of their own columns; without those that cannot exist. */
const keysIn = ({ columns, referenced }: OwnerLink, rows: readonly Row[]): KeyValue[] =>
  rows.flatMap((row) => {
    const values = columns.map(({ name }, at) => {
      const value = row[name] ?? null;
      return value === null ? null : scalarFor(referenced[at]!, value);
    });
    return values.includes(null) ? [] : [values];
  });

/** The keys of owners in written values; null if the values do not have all of the columns. */
function writtenKeys(link: OwnerLink, { columns, rows }: Written): KeyValue[] | null {
  const places = link.columns.map(({ name }) => columns.findIndex((one) => one.name === name));
  if (places.includes(-1)) return null;
  const shown = rows.map((row) =>
    Object.fromEntries(
      link.columns.map(({ name }, at) => [name, shownScalar(row[places[at]!] ?? null)]),
    ),
  );
  return keysIn(link, shown);
}

/** The keys of the owners that every matching row has; null if the condition does not determine them. */
function fixedKeys(link: OwnerLink, where: Condition | null): KeyValue[] | null {
  if (where === null) return null;
  const [only, ...others] = link.columns;
  if (
    where.kind === "in" &&
    !where.negated &&
    others.length === 0 &&
    where.column.name === only?.name
  )
    return keysIn(
      link,
      where.values.map((value) => ({ [only.name]: shownScalar(value) })),
    );
  const row: Record<string, Json> = {};
  for (const { name } of link.columns) {
    const value = pinned(where, name);
    if (value === undefined) return null;
    row[name] = shownScalar(value);
  }
  return keysIn(link, [row]);
}
