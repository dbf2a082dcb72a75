/** Formulas and totals as rules of tables, whichever endpoint's file contains them. They apply to every write. */
import type { Column, Table } from "../values/types/column.ts";
import type { Key } from "../values/types/key.ts";
import type { AggregateFunction, Computation, Output } from "../query/statement.ts";
import type { AuditColumns } from "./audit-columns.ts";
import type { ChildKey, MarkedTable } from "./soft-delete.ts";

/** A column of the header that is computed from its details. */
export interface HeaderTotal {
  readonly column: Column;
  readonly function: AggregateFunction;
  /** What to query: for an average, the sum and the number of values. */
  readonly outputs: readonly Output[];
}

/** A table whose rows are lines of documents of one kind or several. */
export interface LinesTable {
  readonly table: Table;
  readonly key: Key;
  /** In an order in which each finds the results that it needs. */
  readonly computed: readonly Computation[];
  /** Marked lines do not count; null = none are marked. */
  readonly marking: MarkedTable | null;
  /** At least one. */
  readonly headers: readonly HeaderTable[];
}

/** The header of one kind of document. */
export interface HeaderTable {
  readonly table: Table;
  readonly key: Column;
  readonly audit: AuditColumns;
  /** A marked header keeps its totals as they were. */
  readonly marking: MarkedTable | null;
  /** Of the lines: holds the header's key. */
  readonly foreignKey: Column;
  readonly totals: readonly HeaderTotal[];
}

/** Rows that the database changes by itself, because of a row that they reference. */
export interface DatabaseCascade extends Pick<ChildKey, "table" | "columns"> {
  /** What becomes of that row: it is deleted, or its `referenced` columns get other values. */
  readonly on: "delete" | "update";
  /** `change`: the columns get other values. */
  readonly effect: "delete" | "change";
  /** Of the other table, in the order of `columns`. */
  readonly referenced: Key;
}

/** Of a whole project. Tables are named by their identity. */
export interface DocumentTables {
  readonly lines: ReadonlyMap<string, LinesTable>;
  /** By the table of the header. */
  readonly documents: ReadonlyMap<
    string,
    readonly { readonly lines: LinesTable; readonly header: HeaderTable }[]
  >;
  /** By the table whose rows are deleted or changed: the ways on which the database itself reaches lines. */
  readonly cascades: ReadonlyMap<string, readonly DatabaseCascade[]>;
}

export const noDocuments: DocumentTables = Object.freeze({
  lines: new Map(),
  documents: new Map(),
  cascades: new Map(),
});
