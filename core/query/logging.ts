/**
 * A write that tells what it changes in the same statement: it adds a row to one of the service's own tables, with the
 * values before and after. That saves the transaction, and a statement that reads the row before.
 */
import type { Scalar } from "../values/scalar.ts";
import type { Column, Table } from "../values/types/column.ts";

/** A column of the written table whose values are told where they differ. */
export interface ToldColumn {
  readonly column: Column;
  /** The column as it was before the write; no table has it. */
  readonly old: Column;
  /** False: if nothing else differs, no row is added. */
  readonly counts: boolean;
}

export interface Logging {
  readonly ledger: Table;
  /** The columns of the row that are known before, and their values in the same order. */
  readonly columns: readonly Column[];
  readonly values: readonly Scalar[];
  /** At least one that counts. */
  readonly told: readonly ToldColumn[];
  readonly key: readonly ToldColumn[];
  /** Those whose values are told on both sides, whether they differ or not. */
  readonly scoped: readonly ToldColumn[];
  /** What marks rows as deleted, one of them at least; the write leaves them as they are. Null: no row is marked. */
  readonly marks: { readonly flag: Column | null; readonly at: Column | null } | null;
  /** The columns that get JSON objects, as texts. */
  readonly objects: {
    readonly key: Column;
    /** Null: there is no row before. */
    readonly before: Column | null;
    readonly after: Column;
    /**
     * Gets an object with the members `before` and `after`, and `marked` if the row is. Null if no column is scoped and
     * the row is not marked.
     */
    readonly scope: Column;
  };
}

/** A statement that may tell what it changes. */
export interface Logged {
  /** Only for a database that `tells` these columns of the table, and one row. Absent: nothing is told. */
  readonly logging?: Logging;
}

/** Which values an object has: those that differ, before or after, or all as they were or are. */
export type ToldSide = "before" | "after" | "was" | "is";

/** The column with another name for its earlier value. Made once for each column, as texts are kept by its identity. */
export const toldColumn = (column: Column, at: number, counts: boolean): ToldColumn => ({
  column,
  old: { ...column, name: `old_by_rowgate_${at}` },
  counts,
});
