/** Statuses that only change-status may set, and those that close a record, as rules of tables. They apply to every write. */
import type { Column, Table } from "../values/types/column.ts";
import type { Json } from "../values/json.ts";
import type { Key } from "../values/types/key.ts";
import type { DatabaseCascade } from "./document-tables.ts";

/** A table whose status only change-status changes. */
export interface StatusTable {
  readonly table: Table;
  readonly status: Column;
  /** Records with one of these statuses are not changed, and neither are their details. */
  readonly closed: ReadonlySet<string>;
  /** The roles that may take the step into a status; every caller may where there is no entry. */
  readonly roles: ReadonlyMap<string, readonly string[]>;
}

/** From the rows of details to the record that they belong to. */
export interface OwnerLink {
  readonly owner: StatusTable;
  /** Of the details. */
  readonly columns: Key;
  /** Of the owner, in the order of `columns`. */
  readonly referenced: Key;
}

/** Of a whole project. Tables are named by their identity. */
export interface StatusTables {
  readonly guarded: ReadonlyMap<string, StatusTable>;
  /** By the table of the details; only where the owner can be closed. */
  readonly owners: ReadonlyMap<string, readonly OwnerLink[]>;
  /**
   * By the table whose rows are written: the ways on which the database itself reaches closed records or their details.
   */
  readonly cascades: ReadonlyMap<string, readonly DatabaseCascade[]>;
}

export const noStatuses: StatusTables = Object.freeze({
  guarded: new Map(),
  owners: new Map(),
  cascades: new Map(),
});

/** Whether a status closes its record. */
export const isClosed = ({ closed }: Pick<StatusTable, "closed">, status: Json): boolean =>
  status !== null && closed.has(String(status));

/** Whether only change-status sets the status. */
export const isReserved = (table: StatusTable, status: Json): boolean =>
  isClosed(table, status) || (status !== null && table.roles.has(String(status)));

/** The message of a field that would set one. */
export const reservedMessage = "is changed by change-status only";
