/**
 * The order of committed writes. An id that a row gets before its commit can be overtaken by later commits, so a reader
 * that remembers the last id would miss rows. So writes get their place after their commit, from one process at a time:
 * it locks the row of `rowgate_change_order`, and numbers the writes that are visible and have no place yet. A
 * transaction that is still open delays nobody.
 */
import type { Db } from "../plans/db-port.ts";
import { ledgerColumns } from "../query/ledger-columns.ts";
import type { DbQueries, DbSession, UnscopedQueries } from "../query/session.ts";
import { type Condition, equals, selectFrom, sourceOf } from "../query/statement.ts";
import { compares } from "../query/key-conditions.ts";
import { insertInto, setTo, updateRow, updateRows } from "../query/write-statements.ts";
import { AppError } from "../values/errors.ts";
import { limits } from "../values/limits.ts";
import type { Table } from "../values/types/column.ts";
import { changeOf, logColumns, type RecordedChange } from "./change-log.ts";

/** What is known of the order. */
export interface ChangeOrder {
  /**
   * The secret that seals numbers of the log (`sealed-numbers.ts`): never shown. Another log has another one, for example
   * after the database was replaced.
   */
  readonly logId: string;
  /** The place of the last write; 0 = there is none. */
  readonly last: number;
  /** Writes up to this place may have been removed. */
  readonly first: number;
}

interface Ledgers {
  readonly changes: Table;
  readonly order: Table;
}

export interface Ordering {
  readonly db: Db;
  readonly newId: () => string;
  /** On the clock of `performance.now()`. */
  readonly deadlineAtMs: number;
}

const rowName = "writes";

/** Numbers all writes that are committed by now. */
export async function orderWrites({ db, newId, deadlineAtMs }: Ordering): Promise<ChangeOrder> {
  const session = db.session(deadlineAtMs);
  const ledgers = await ledgersOf(session);
  for (;;) {
    const known = await knownOrder(session as unknown as UnscopedQueries, ledgers.order, newId);
    if (!(await isAnyOpen(session, ledgers))) return known;
    await session.tx((tx) => numberSome(tx as unknown as UnscopedQueries, ledgers));
  }
}

/** The order as it is stored; the first call makes it. */
export async function knownOrder(
  queries: UnscopedQueries,
  order: Table,
  newId: () => string,
): Promise<ChangeOrder> {
  for (;;) {
    const known = await findOrder(queries, order, false);
    if (known !== null) return known;
    await makeOrder(queries, order, newId());
  }
}

const ledgersOf = async (session: DbSession): Promise<Ledgers> => ({
  changes: await session.ledger("changes"),
  order: await session.ledger("change_order"),
});

const orderColumns = (order: Table) =>
  ledgerColumns(order, ["name", "log_id", "last_seq", "first_seq"]);

async function findOrder(
  queries: UnscopedQueries,
  order: Table,
  lock: boolean,
): Promise<ChangeOrder | null> {
  const { name, ...columns } = orderColumns(order);
  const row = await queries.one(
    selectFrom(sourceOf(order), {
      columns: Object.values(columns),
      where: equals(name, rowName),
      limit: 1,
      lock,
    }),
  );
  return (
    row && {
      logId: String(row["log_id"]),
      last: Number(row["last_seq"]),
      first: Number(row["first_seq"]),
    }
  );
}

async function makeOrder(queries: UnscopedQueries, order: Table, logId: string): Promise<void> {
  const { name, log_id, last_seq, first_seq } = orderColumns(order);
  try {
    await queries.insert(
      insertInto(order, {
        key: [name],
        columns: [name, log_id, last_seq, first_seq],
        rows: [[rowName, logId, 0n, 0n]],
      }),
    );
  } catch (error) {
    // Another process made it.
    if (!(error instanceof AppError) || error.kind !== "duplicateEntry") throw error;
  }
}

const hasNoPlace = (changes: Table): Condition => ({
  kind: "null",
  column: logColumns(changes).seq,
  negated: false,
});

async function isAnyOpen(session: DbSession, { changes }: Ledgers): Promise<boolean> {
  const { change_id } = logColumns(changes);
  const where = hasNoPlace(changes);
  const select = selectFrom(sourceOf(changes), { columns: [change_id], where, limit: 1 });
  return (await (session as unknown as UnscopedQueries).one(select)) !== null;
}

/** All changes of a write become visible at once, so they get one place. */
async function numberSome(tx: UnscopedQueries, { changes, order }: Ledgers): Promise<void> {
  const known = await findOrder(tx, order, true);
  if (known === null) return;
  const { change_id, write_id, seq } = logColumns(changes);
  const rows = await tx.all(
    selectFrom(sourceOf(changes), {
      columns: [write_id],
      where: hasNoPlace(changes),
      sort: [{ column: change_id, direction: "asc" }],
      limit: limits.inValuesMax,
    }),
  );
  const writes = [...new Set(rows.map((row) => String(row["write_id"])))];
  if (writes.length === 0) return;
  await tx.updateMany(
    updateRows(changes, {
      key: [write_id],
      columns: [seq],
      rows: writes.map((write, at) => ({
        keyValue: [write],
        values: [BigInt(known.last + at + 1)],
      })),
    }),
  );
  await setOrder(tx, order, { last: known.last + writes.length });
}

/** Writes up to that place may be gone; Infinity: also some that would have got the next one. */
export async function forgetUpTo(tx: DbQueries, order: Table, place: number): Promise<void> {
  const own = tx as unknown as UnscopedQueries;
  const known = await findOrder(own, order, true);
  if (known === null || place <= known.first) return;
  // Readers that are at the last place have missed something as well.
  const next = known.last + 1;
  await setOrder(own, order, place === Infinity ? { last: next, first: next } : { first: place });
}

async function setOrder(
  tx: UnscopedQueries,
  order: Table,
  { last, first }: { last?: number; first?: number },
): Promise<void> {
  const { name, last_seq, first_seq } = orderColumns(order);
  await tx.updateOne(
    updateRow(order, {
      key: [name],
      keyValue: [rowName],
      set: [
        ...(last === undefined ? [] : [setTo(last_seq, BigInt(last))]),
        ...(first === undefined ? [] : [setTo(first_seq, BigInt(first))]),
      ],
    }),
  );
}

/** A change in the order of writes. */
export interface PlacedChange extends RecordedChange {
  readonly place: number;
  /** Identity of the table. */
  readonly table: string;
}

/** Where a reader is: the last change that it has. */
export interface Reached {
  readonly place: number;
  /** Of the last change with this place; "0" = before all of them. */
  readonly id: string;
}

/** The next changes after that position, in order, `limit` at most. */
export async function changesAfter(
  session: DbSession,
  { place, id }: Reached,
  limit: number,
): Promise<PlacedChange[]> {
  const ledger = await session.ledger("changes");
  const { change_id, seq, table_name, ...columns } = logColumns(ledger);
  const rows = await (session as unknown as UnscopedQueries).all(
    selectFrom(sourceOf(ledger), {
      columns: [change_id, seq, table_name, ...Object.values(columns)],
      where: {
        kind: "or",
        members: [
          compares(seq, ">", BigInt(place)),
          {
            kind: "and",
            members: [compares(seq, "=", BigInt(place)), compares(change_id, ">", BigInt(id))],
          },
        ],
      },
      sort: [
        { column: seq, direction: "asc" },
        { column: change_id, direction: "asc" },
      ],
      limit,
    }),
  );
  return rows.map((row) => ({
    ...changeOf(row),
    place: Number(row["seq"]),
    table: String(row["table_name"]),
  }));
}
