/** Which changes of rows are recorded, as rules of tables: an endpoint that asks for them tells every write of its table. */
import type { Column, Table } from "../values/types/column.ts";
import type { Key } from "../values/types/key.ts";
import type { DatabaseCascade } from "./document-tables.ts";
import type { MarkColumns } from "./soft-delete.ts";

/** A table whose changes are recorded. */
export interface ToldTable {
  readonly table: Table;
  readonly key: Key;
  /** What must be known of a row before and after a change; the key is among them. */
  readonly columns: readonly Column[];
  /** Names of the columns whose values are recorded. */
  readonly kept: ReadonlySet<string>;
  /** Names of columns that change with every write: when and by whom a row was changed. */
  readonly stamps: ReadonlySet<string>;
  /** Names of columns by which an endpoint of the table limits the rows of some caller. */
  readonly scoped: ReadonlySet<string>;
  /** Null: rows are not marked as deleted. */
  readonly marks: MarkColumns | null;
}

/** Of a whole project, by the identity of tables. */
export interface ChangeTables {
  readonly told: ReadonlyMap<string, ToldTable>;
  /** By the table whose rows are deleted: the ways on which the database itself reaches rows of `told`. */
  readonly cascades: ReadonlyMap<string, readonly DatabaseCascade[]>;
}

export const noChanges: ChangeTables = Object.freeze({ told: new Map(), cascades: new Map() });
