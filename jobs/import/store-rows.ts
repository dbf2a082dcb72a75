/**
 * Stores a batch of judged rows with few statements: one INSERT and one UPDATE for all rows that set the same columns.
 * Rows with handlers for their event are stored one by one (`store-handled.ts`).
 */
import { AppError } from "../../core/values/errors.ts";
import type { FieldWording } from "../../core/calls/wording.ts";
import { hasHandlers } from "../../core/records/events.ts";
import type { FileColumn } from "../../core/jobs/import-columns.ts";
import type { Queries, Transaction } from "../../core/query/session.ts";
import { parentsFirst } from "../../core/records/parents-first.ts";
import { insertSet, updateSet } from "../../core/records/record-sets.ts";
import { createAudit, filledBeside, updateAudit } from "../../core/records/record.ts";
import type { FileRow } from "./row-batches.ts";
import type { Verdict } from "./row-verdict.ts";
import type { RejectedRow } from "./rejected-rows.ts";
import type { RowFault } from "./row-fault.ts";
import { type HandledRows, storeHandled } from "./store-handled.ts";

/** The outcome of a batch, in rows. */
export interface Stored {
  inserted: number;
  updated: number;
  /** Rows that a handler refused; nothing of them is stored. */
  readonly rejected: RejectedRow[];
}

/** `onRow` is called for each row that is stored separately. */
type StoreRows = (
  tx: Transaction,
  rows: readonly FileRow[],
  verdicts: readonly Verdict[],
  onRow: (stored: Stored) => void,
) => Promise<Stored>;

/** The import, with the columns of its file. */
export interface StoreRowsOptions extends HandledRows {
  readonly columns: readonly FileColumn[];
  /** The language of messages about fields. */
  readonly words: FieldWording;
}

/** For all batches of one transaction. Rejects with the database's refusal, in a message that names the rows. */
export function storeRows(options: StoreRowsOptions): StoreRows {
  const insert = createInsert(options);
  const change = createChange(options);
  const storeHandledRows = createHandledStore(options);

  return async (tx, rows, verdicts, onRow) => {
    const stored: Stored = { inserted: 0, updated: 0, rejected: [] };
    const others = await storeHandledRows(tx, { rows, verdicts }, { stored, onRow });
    try {
      stored.inserted += await insert(tx, others);
      stored.updated += await change(tx, others);
      return stored;
    } catch (error) {
      throw refusalOf(error, rows, options);
    }
  };
}

/** Stores the rows that its statement is for; resolves with their number. */
type StoreSome = (tx: Queries, verdicts: readonly Verdict[]) => Promise<number>;

/** Inserts the new records. */
function createInsert(options: StoreRowsOptions): StoreSome {
  const { entity, plan, columns, now, caller, scope } = options;
  const { table, key, writable } = plan.write;
  const created = createAudit(plan, { body: {}, now, caller });
  /** The columns that the database would leave null: they are set, so that more rows set the same ones. */
  const optional = new Set(
    columns.flatMap(({ column }) => {
      const { nullable, hasDefault, generated } = column;
      const isNull = nullable && !hasDefault && generated === "none";
      return isNull && !key.includes(column) ? [column] : [];
    }),
  );
  /** The columns that a new row can set, besides those that are equal for all. */
  const filled = filledBeside({ fills: scope.fills, rules: entity.rules }, plan.write).keys();
  const settable = new Set([...key, ...writable.values(), ...optional, ...filled]);
  for (const column of created.keys()) settable.delete(column);

  return async (tx, verdicts) => {
    const news = verdicts.filter((one) => one.kind === "new");
    const among = [...settable];
    await insertSet(tx, news, { table, key, among, optional, same: created, returning: [] });
    return news.length;
  };
}

/** Updates the changed records. */
function createChange({ plan, now, caller }: StoreRowsOptions): StoreSome {
  const { table, key, writable } = plan.write;
  return async (tx, verdicts) => {
    const changes = verdicts.filter((one) => one.kind === "change");
    const set = updateAudit(plan, { body: {}, now, caller });
    await updateSet(tx, changes, { table, key, among: [...writable.values()], set });
    return changes.length;
  };
}

/** Stores the rows whose event has handlers, one by one; resolves with the verdicts of the others. */
function createHandledStore(options: StoreRowsOptions) {
  const { entity } = options;
  const store = storeHandled(options);
  const isHandled = {
    new: hasHandlers(entity, "onBeforeInsert", "onAfterInsert"),
    change: hasHandlers(entity, "onBeforeUpdate", "onAfterUpdate"),
  };
  // A handler before the insert may change what a row refers to, and so sees the rows as they come.
  const inOrder = (judged: readonly JudgedRow[]): readonly JudgedRow[] =>
    hasHandlers(entity, "onBeforeInsert") ? judged : withParentsFirst(judged, options.plan);
  return async (
    tx: Transaction,
    { rows, verdicts }: { rows: readonly FileRow[]; verdicts: readonly Verdict[] },
    { stored, onRow }: { stored: Stored; onRow: (stored: Stored) => void },
  ): Promise<readonly Verdict[]> => {
    if (!isHandled.new && !isHandled.change) return verdicts;
    const others: Verdict[] = [];
    const judged = rows.map((row, at) => [row, verdicts[at]!] as const);
    for (const [row, verdict] of inOrder(judged)) {
      const { kind } = verdict;
      if (kind === "skip" || kind === "invalid" || !isHandled[kind]) {
        others.push(verdict);
        continue;
      }
      const refusal = await store(tx, row, verdict).catch((error: unknown) => {
        throw refusalOf(error, [row], options);
      });
      if (refusal) stored.rejected.push({ values: row.values, faults: faultsOf(refusal, options) });
      else stored[kind === "new" ? "inserted" : "updated"] += 1;
      onRow(stored);
    }
    return others;
  };
}

type JudgedRow = readonly [FileRow, Verdict];

/** The new rows in each other's places, so that none comes before one that it refers to. */
function withParentsFirst(
  judged: readonly JudgedRow[],
  { write: { table } }: StoreRowsOptions["plan"],
): readonly JudgedRow[] {
  const news = judged.flatMap(([row, verdict]) =>
    verdict.kind === "new" ? [{ row, verdict, values: verdict.values }] : [],
  );
  const order = parentsFirst(news, table)?.order.values();
  if (order === undefined) return judged;
  return judged.map((one) => {
    if (one[1].kind !== "new") return one;
    const { row, verdict } = news[order.next().value!]!;
    return [row, verdict] as const;
  });
}

/** The database's refusal, for readers of the file; columns that are not in the file are not mentioned. */
function refusalOf(
  error: unknown,
  rows: readonly FileRow[],
  { columns, words }: Pick<StoreRowsOptions, "columns" | "words">,
): unknown {
  const isRefusal =
    error instanceof AppError && error.kind !== "unavailable" && error.kind !== "internal";
  if (!isRefusal) return error;
  const headings = new Map(columns.map(({ column, heading }) => [column.name, heading]));
  const faults = Object.entries(error.errors ?? {}).flatMap(([name, messages]) => {
    const heading = headings.get(name);
    const texts = messages.map((text) => words(name, text));
    return heading === undefined ? [] : [`${heading}: ${texts.join(", ")}`];
  });
  const [first, last] = [rows[0]!.rowIndex, rows.at(-1)!.rowIndex];
  const place = first === last ? `in row ${first}` : `among rows ${first} to ${last}`;
  const reason = [error.message, ...faults].join("; ");
  return new AppError(error.kind, `Nothing was stored: ${place}, ${reason}`, { cause: error });
}

/** A refusal in the terms of the handler, and its fields by their headings. */
function faultsOf(
  { message, errors }: AppError,
  { columns, words }: Pick<StoreRowsOptions, "columns" | "words">,
): RowFault[] {
  const known = new Map(columns.map((column) => [column.column.name, column]));
  const faults = Object.entries(errors ?? {}).map(([name, messages]) => ({
    text: `${known.get(name)?.heading ?? name}: ${messages.map((text) => words(name, text)).join(", ")}`,
    place: known.get(name)?.place ?? null,
  }));
  return [{ text: message, place: null }, ...faults];
}
