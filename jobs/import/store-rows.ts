/** Stores a batch of judged rows with few statements: one INSERT and one UPDATE for all rows that set the same columns. Called by `commit.ts`. */
import type { Column } from "../../core/column.ts";
import type { ImportPlan } from "../../core/entity.ts";
import { AppError } from "../../core/errors.ts";
import type { FileColumn } from "../../core/import-columns.ts";
import type { Clock, Queries } from "../../core/ports.ts";
import { createAudit, updateAudit } from "../../core/record.ts";
import type { Scalar } from "../../core/statement.ts";
import type { FileRow, Verdict } from "./judge-rows.ts";

type Values = ReadonlyMap<Column, Scalar>;

type StoreRows = (
  tx: Queries,
  rows: readonly FileRow[],
  verdicts: readonly Verdict[],
) => Promise<{ inserted: number; updated: number }>;

/**
 * For all batches of one transaction. Rejects with what the database refuses, in words that name the rows.
 * Handlers of components would get the rows here, before and after they are stored; `importConfig.runHooks` is refused until they can.
 */
export function storeRows({
  plan,
  columns,
  now,
}: {
  plan: ImportPlan;
  columns: readonly FileColumn[];
  now: Clock;
}): StoreRows {
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

  return async (tx, rows, verdicts) => {
    try {
      const inserted = await insert(tx, verdicts);
      return { inserted, updated: await change(tx, verdicts) };
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
  const place = `rows ${rows[0]!.rowIndex} to ${rows.at(-1)!.rowIndex}`;
  const reason = [error.message, ...faults].join("; ");
  return new AppError(error.kind, `Nothing was stored: among ${place}, ${reason}`, {
    cause: error,
  });
}
