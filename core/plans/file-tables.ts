/** Files of records as rules of tables, whichever endpoint's file contains them. */
import type { Column, Table } from "../values/types/column.ts";

/** A column that holds files. */
export interface FilesColumn {
  readonly column: Column;
  /** Largest file. */
  readonly bytesMax: number;
  /** Media types, such as `image/*`; null = all. */
  readonly types: readonly string[] | null;
}

/** A table with such columns. */
export interface FileTable {
  readonly table: Table;
  /** At least one, by name. */
  readonly columns: ReadonlyMap<string, FilesColumn>;
  /** How long files are kept that a record has no more. */
  readonly keepDays: number;
}

/** By the table's identity. */
export type FileTables = ReadonlyMap<string, FileTable>;

export const noFileTables: FileTables = new Map();
