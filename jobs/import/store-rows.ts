/**
 * Stores a batch of judged rows with few statements: one INSERT and one UPDATE for all rows that set the same columns. Rows whose event has
 * handlers are stored one by one (`store-handled.ts`). Called by `commit.ts`.
 */
import type { Column } from "../../core/column.ts";
import { AppError } from "../../core/errors.ts";
import { hasHandlers } from "../../core/events.ts";
import type { FileColumn } from "../../core/import-columns.ts";
import type { Queries, Transaction } from "../../core/ports.ts";
import { createAudit, updateAudit } from "../../core/record.ts";
import type { Scalar } from "../../core/statement.ts";
import type { FileRow, Verdict } from "./judge-rows.ts";
import type { RejectedRow } from "./rejected-rows.ts";
import { type HandledRows, storeHandled } from "./store-handled.ts";

type Values = ReadonlyMap<Column, Scalar>;

export interface Stored {
  inserted: number;
  updated: number;
  /** Rows that a handler refused; nothing of them is stored. */
  readonly rejected: RejectedRow[];
}

/** `onRow` is told of each row that takes its own time. */
type StoreRows = (
  tx: Transaction,
  rows: readonly FileRow[],
  verdicts: readonly Verdict[],
  onRow: (stored: Stored) => void,
) => Promise<Stored>;

export interface StoreRowsOptions extends HandledRows {
  readonly columns: readonly FileColumn[];
}

/** For all batches of one transaction. Rejects with what the database refuses, in words that name the rows. */
export function storeRows(options: StoreRowsOptions): StoreRows {
  const { entity, plan, columns, now } = options;
  const store = storeHandled(options);
  const isHandled = {
    new: hasHandlers(entity, "onBeforeInsert", "onAfterInsert"),
    change: hasHandlers(entity, "onBeforeUpdate", "onAfterUpdate"),
  };
  const given = { body: {}, now };
  const created = createAudit(plan, given);
  const optional = columns.filter(
    ({ column: { nullable, hasDefault, generated } }) =>
      nullable && !hasDefault && generated === "none",
  );

  /** With the columns that the database would leave null, so that more rows set the same ones. */
  function whole(values: Values): Values {
    const all = new Map(values);
    for (const { column } of optional)
      if (column !== plan.write.key && !all.has(column)) all.set(column, null);
    for (const [column, value] of created) all.set(column, value);
    return all;
  }

  async function insert(tx: Queries, verdicts: readonly Verdict[]): Promise<number> {
    const news = verdicts.flatMap((one) => (one.kind === "new" ? [whole(one.values)] : []));
    const { table, key } = plan.write;
    for (const group of grouped(news, (values) => values)) {
      await tx.insert({
        kind: "insert",
        table,
        key,
        columns: [...group[0]!.keys()],
        rows: group.map((values) => [...values.values()]),
        returning: [],
      });
    }
    return news.length;
  }

  async function change(tx: Queries, verdicts: readonly Verdict[]): Promise<number> {
    const changes = verdicts.flatMap((one) => (one.kind === "change" ? [one] : []));
    const { table, key } = plan.write;
    const set = updateAudit(plan, given);
    for (const group of grouped(changes, ({ values }) => values)) {
      const changed = [...group[0]!.values.keys()];
      if (changed.length === 0 && set.length === 0) continue;
      await tx.updateMany({
        kind: "updateMany",
        table,
        key,
        columns: changed,
        rows: group.map((one) => ({ keyValue: one.key, values: [...one.values.values()] })),
        set,
        returning: [],
      });
    }
    return changes.length;
  }

  /** Gives the verdicts that have no handlers. */
  async function storeOneByOne(
    tx: Transaction,
    judged: readonly (readonly [FileRow, Verdict])[],
    { stored, onRow }: { stored: Stored; onRow: (stored: Stored) => void },
  ): Promise<Verdict[]> {
    const others: Verdict[] = [];
    for (const [row, verdict] of judged) {
      const { kind } = verdict;
      if (kind === "skip" || kind === "invalid" || !isHandled[kind]) {
        others.push(verdict);
        continue;
      }
      const refusal = await store(tx, row, verdict).catch((error: unknown) => {
        throw refusalOf(error, [row], columns);
      });
      if (refusal) stored.rejected.push({ values: row.values, messages: saidOf(refusal, columns) });
      else stored[kind === "new" ? "inserted" : "updated"] += 1;
      onRow(stored);
    }
    return others;
  }

  return async (tx, rows, verdicts, onRow) => {
    const stored: Stored = { inserted: 0, updated: 0, rejected: [] };
    const judged = rows.map((row, at) => [row, verdicts[at]!] as const);
    const others = await storeOneByOne(tx, judged, { stored, onRow });
    try {
      stored.inserted += await insert(tx, others);
      stored.updated += await change(tx, others);
      return stored;
    } catch (error) {
      throw refusalOf(error, rows, columns);
    }
  };
}

/** Items that set the same columns, in the same order. */
function grouped<T>(items: readonly T[], valuesOf: (item: T) => Values): T[][] {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const names = [...valuesOf(item).keys()].map(({ name }) => name).join("\0");
    const group = groups.get(names);
    if (group) group.push(item);
    else groups.set(names, [item]);
  }
  return [...groups.values()];
}

/** What the database said, for somebody who sees the file; of columns that are not in it nothing is told. */
function refusalOf(
  error: unknown,
  rows: readonly FileRow[],
  columns: readonly FileColumn[],
): unknown {
  const isRefusal =
    error instanceof AppError && error.kind !== "unavailable" && error.kind !== "internal";
  if (!isRefusal) return error;
  const headings = new Map(columns.map(({ column, heading }) => [column.name, heading]));
  const faults = Object.entries(error.errors ?? {}).flatMap(([name, messages]) => {
    const heading = headings.get(name);
    return heading === undefined ? [] : [`${heading}: ${messages.join(", ")}`];
  });
  const [first, last] = [rows[0]!.rowIndex, rows.at(-1)!.rowIndex];
  const place = first === last ? `in row ${first}` : `among rows ${first} to ${last}`;
  const reason = [error.message, ...faults].join("; ");
  return new AppError(error.kind, `Nothing was stored: ${place}, ${reason}`, {
    cause: error,
  });
}

/** A refusal in the words of the handler, and its fields by their headings. */
function saidOf({ message, errors }: AppError, columns: readonly FileColumn[]): string[] {
  const headings = new Map(columns.map(({ column, heading }) => [column.name, heading]));
  const faults = Object.entries(errors ?? {}).map(
    ([name, messages]) => `${headings.get(name) ?? name}: ${messages.join(", ")}`,
  );
  return [message, ...faults];
}
