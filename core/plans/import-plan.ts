/** What an import reads from a file, and how it stores it. */
import type { WritePlan } from "./write-plan.ts";
import type { Column, Columns, Table } from "../values/types/column.ts";

/** What import needs. */
export interface ImportPlan {
  readonly write: WritePlan;
  /** By heading in lower case: the column that it fills (writable or of the key), or the lookup of its names. */
  readonly headings: ReadonlyMap<string, Column | ImportLookup>;
  /** The headings that a new file should have, in order. */
  readonly template: readonly string[];
  /** Columns that identify an existing row; empty = every row is new. */
  readonly upsertKeys: Columns;
  /** True: the database makes `upsertKeys`, so a row that has none of them is new. */
  readonly makesKeys: boolean;
  /** True: no unique index covers `upsertKeys`, so a commit locks out other writers. */
  readonly locksTable: boolean;
  readonly strategy: "update_existing" | "insert_only" | "skip_existing";
  readonly constraints: ImportConstraints;
  /** Fields that every row must fill. */
  readonly required: readonly Column[];
  /** Texts that mean true and false, by column. */
  readonly words: ReadonlyMap<Column, BooleanWords>;
  readonly fileBytesMax: number;
  /** Whether csv gets an apostrophe before texts that a spreadsheet would run as formulas. */
  readonly csvFormulas: "escape" | "keep";
  /** Rows that import-upload shows. */
  readonly previewRows: number;
}

/** A column of the file that contains names; each name identifies a row in another table. */
export interface ImportLookup {
  /** The heading of the column. */
  readonly heading: string;
  /** The entity's column that gets the key. */
  readonly target: Column;
  readonly table: Table;
  /** In `table`: the column of the name, and the key. */
  readonly name: Column;
  readonly id: Column;
  /** False: a name that is not found becomes null. */
  readonly isRequired: boolean;
}

/** The texts of a file that mean true and false. */
export interface BooleanWords {
  /** In lower case. */
  readonly meanings: ReadonlyMap<string, boolean>;
  /** The texts for true and false in a new file. */
  readonly offered: readonly [yes: string, no: string];
}

/** Constraints of the database on stored rows, as far as an import can check them in advance. */
export interface ImportConstraints {
  readonly references: readonly ImportReference[];
  /** Sets of columns that are unique together, including the primary key. */
  readonly uniques: readonly (readonly Column[])[];
  /** Columns that are neither null nor filled by the database or the service. */
  readonly needed: readonly Column[];
}

/** Columns whose values must be those of a row of another table, or of the same one. */
export interface ImportReference {
  readonly columns: readonly Column[];
  readonly table: Table;
  /** Of `table`, in the order of `columns`. */
  readonly referenced: readonly Column[];
  /** True: `table` is the one that is imported into. */
  readonly isOwn: boolean;
}
