/** Which columns of a new record's key are made neither by the service, as a UUID, nor by the database. */
import { accept } from "./accept.ts";
import type { Column, Columns } from "./column.ts";
import { columnTypes } from "./column-types.ts";
import type { Key } from "./key.ts";

/** The key of records that can be made. */
export interface NewKeyColumns {
  /** The whole key. */
  readonly key: Key;
  /** The columns of it that a body may name, by name. */
  readonly keyColumns: Columns;
  /** The columns that answers show. */
  readonly shown: Columns;
  /** Whether a request may name a record by its key; false for a caller from whom a part of the key is hidden. */
  readonly namesRecords: boolean;
  /** The names in `readOnlyFields`, of other columns too: a body sets no part of the key that is among them. */
  readonly readOnly: ReadonlySet<string>;
}

/** The columns that a body must hold. */
export const mustBeSent = ({ key, keyColumns, readOnly }: NewKeyColumns): readonly Column[] =>
  [...keyColumns.values()].filter((column) => mustSend(column, key) && !readOnly.has(column.name));

/**
 * Whether the value in the body counts. If the column is hidden from the caller, the value would reveal which keys are
 * taken; it then counts only if nothing else makes one.
 */
export const maySend = (
  column: Column,
  { key, shown, namesRecords, readOnly }: NewKeyColumns,
): boolean =>
  !readOnly.has(column.name) && (namesRecords || shown.has(column.name) || mustSend(column, key));

/** The service generates no part of a composite key, because it does not know what the other parts mean. */
export const mustSend = (column: Column, key: Key): boolean =>
  !(key.length === 1 && takesNewId(column)) &&
  column.generated !== "identity" &&
  !column.hasDefault &&
  column.isFilledByTrigger !== true;

/** Whether the service makes the key, as a UUID. */
export const takesNewId = (column: Column): boolean =>
  columnTypes[column.type].takesNewId && accept(column, "00000000-0000-4000-8000-000000000000").ok;
