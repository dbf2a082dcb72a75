/**
 * Soft delete, compiled: which rows statements see, and how delete marks rows and restore takes the marks away.
 * `core/config/compiling/soft-delete-plan.ts` reads it from the files, `core/config/checking/marked-tables.ts` adds what concerns several
 * tables. A row is marked when its flag is true; where there is no flag, when it has a time of its deletion.
 */
import type { Column, Table } from "../values/types/column.ts";
import type { Key } from "../values/types/key.ts";

/** Rows that are not marked, those that are, or both. */
export type SeenRows = "active" | "marked" | "all";

/** Names of the columns that mark a row; one of `flag` and `at` at least. */
export interface MarkNames {
  readonly flag: string | null;
  readonly at: string | null;
}

/** The columns that mark a row; one of `flag` and `at` at least. */
export interface MarkColumns {
  /** A boolean, or a whole number that is 0 or 1. */
  readonly flag: Column | null;
  readonly at: Column | null;
  readonly by: Column | null;
}

/** A table whose rows are marked instead of deleted. */
export interface MarkedTable {
  readonly table: Table;
  /** Empty: rows cannot be named, and so not be marked. */
  readonly key: Key;
  readonly marks: MarkColumns;
  /** The times of the last change, which a mark leaves as they are. */
  readonly changeTimes: readonly Column[];
  /** Columns whose values become free when a row is marked, so that another row can use them. */
  readonly reusable: readonly Column[];
  /** Digits of a second that this table and all tables marked together with it can store. */
  readonly timeDigits: number;
  /** The foreign keys that point at the table. */
  readonly children: readonly ChildKey[];
  /** The foreign keys of the table that point at tables with marks. */
  readonly parents: readonly ParentKey[];
}

export interface ChildKey {
  readonly table: Table;
  readonly columns: Key;
  /** Of the marked table, in the order of `columns`. */
  readonly referenced: Key;
  /** What happens to the rows when theirs is marked. `refuse`: the mark is refused if there are any. */
  readonly onMark: "refuse" | "mark" | "leave";
  /** Null: the rows of the child have no marks. */
  readonly child: MarkedTable | null;
}

export interface ParentKey {
  readonly columns: Key;
  /** Of the parent, in the order of `columns`. */
  readonly referenced: Key;
  readonly parent: MarkedTable;
}

/** Which rows the statements of an entity see. */
export interface Visibility {
  /** By action: rows of the entity itself, and of its details. */
  readonly seen: ReadonlyMap<string, SeenRows>;
  /** The marks of the rows that the entity reads and writes; null = no soft delete. */
  readonly own: MarkNames | null;
  /** Identities of the entity's tables and views; its queries are its own, too. */
  readonly ownIdentities: ReadonlySet<string>;
  /** Identities of the tables of its details. */
  readonly details: ReadonlySet<string>;
  /** All tables of the project with marks, by identity. */
  readonly tables: ReadonlyMap<string, MarkedTable>;
}

export const markNames = ({ flag, at }: MarkColumns): MarkNames => ({
  flag: flag?.name ?? null,
  at: at?.name ?? null,
});
