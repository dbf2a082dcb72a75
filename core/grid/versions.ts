/**
 * `versions` of the grid: the version of each record, as `read` and `first` show it. A grid with a source of its own
 * has other columns, so there the records are read once more by their keys.
 */
import type { GridPlan } from "../plans/grid-plan.ts";
import type { ReadPlan } from "../plans/read-plan.ts";
import { comparand } from "../query/comparisons.ts";
import { keyBatches, keyIn } from "../query/key-conditions.ts";
import type { ReadQueries } from "../query/session.ts";
import { selectFrom } from "../query/statement.ts";
import type { Column } from "../values/types/column.ts";
import { invalidPayload } from "../values/errors.ts";
import type { Row } from "../values/row.ts";
import { versionName } from "../lists/shown-schema.ts";
import { etagOf } from "../records/etag.ts";

/** How the grid finds versions. */
export interface GridVersions {
  readonly read: ReadPlan;
  /** Columns that the grid's own statement reads for them. */
  readonly columns: readonly Column[];
  /** False: each page takes a second statement. */
  readonly areRead: boolean;
}

/** Rejects with Invalid payload if the grid does not tell which records it shows, or has a column of this name. */
export function versionsFor(grid: GridPlan, read: ReadPlan | null): GridVersions {
  if (grid.columns.has(versionName))
    throw invalidPayload(
      `versions needs the name "${versionName}", which is a column of this grid`,
    );
  if (read?.source === grid.source)
    return { read, columns: [...read.columns.values()], areRead: true };
  const names = ({ key }: Pick<ReadPlan, "key">): string => key.map(({ name }) => name).join();
  if (read === null || grid.key.length === 0 || names(grid) !== names(read))
    throw invalidPayload("versions needs the key of the records, which this grid does not have");
  return { read, columns: grid.key, areRead: false };
}

/** The version of each row, in their order; null where there is no such record. */
export async function versionsOf(
  queries: ReadQueries,
  rows: readonly Readonly<Row>[],
  { read, areRead }: GridVersions,
): Promise<readonly (string | null)[]> {
  if (areRead) return rows.map((row) => etagOf(row, read));
  const { key, source } = read;
  const columns = [...new Set([...key, ...read.columns.values()])];
  const idOf = (row: Readonly<Row>): string =>
    JSON.stringify(key.map(({ name }) => row[name] ?? null));
  const values = rows.map((row) =>
    key.map((column) => comparand(column, row[column.name] ?? null)),
  );
  const known = new Map<string, string>();
  for (const batch of keyBatches(key, values))
    for (const row of await queries.all(selectFrom(source, { columns, where: keyIn(key, batch) })))
      known.set(idOf(row), etagOf(row, read));
  return rows.map((row) => known.get(idOf(row)) ?? null);
}
