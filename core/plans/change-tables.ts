/** Which changes of rows are recorded, as rules of tables: an endpoint that asks for them tells every write of its table. */
import type { Column, Table } from "../values/types/column.ts";
import type { FileTable } from "./file-tables.ts";
import type { Condition } from "../query/statement.ts";
import type { Key } from "../values/types/key.ts";
import type { DatabaseCascade } from "./document-tables.ts";
import type { MarkColumns } from "./soft-delete.ts";

/** What a webhook is told of a change. */
export type WebhookEvent = "create" | "update" | "delete";

/** A webhook, for one of the endpoints that it names. */
export interface WebhookRule {
  readonly project: string;
  readonly webhook: string;
  readonly endpoint: string;
  readonly on: ReadonlySet<WebhookEvent>;
  /** Names of columns; an update counts if it changes one of them. Null: every update counts. */
  readonly columns: ReadonlySet<string> | null;
  /** What the new record must meet, of a deleted one the old record; null = nothing. */
  readonly when: Condition | null;
  /** False: the key is hidden from everybody. */
  readonly namesRecords: boolean;
}

/** A table whose changes are recorded. */
export interface RecordedTable {
  readonly table: Table;
  readonly key: Key;
  /** What must be known of a row before and after a change; the key is among them. */
  readonly columns: readonly Column[];
  /** Names of the columns whose values are recorded. */
  readonly kept: ReadonlySet<string>;
  /** Names of the columns that a history shows to callers from whom it hides nothing. */
  readonly shown: ReadonlySet<string>;
  /** Names of the columns that a caller may set who may set everything. */
  readonly settable: ReadonlySet<string>;
  /** Names of columns that change with every write: when and by whom a row was changed. */
  readonly stamps: ReadonlySet<string>;
  /** Names of columns by which an endpoint of the table limits the rows of some caller. */
  readonly scoped: ReadonlySet<string>;
  /** Its changes are kept as a history, or clients are told of them; false: only webhooks are, or its files follow. */
  readonly isLogged: boolean;
  /** Clients are told of its changes: they get a place in the order of all writes. */
  readonly isLive: boolean;
  /** Days after which a change is removed; null = never. */
  readonly keepDays: number | null;
  /** Null: rows are not marked as deleted. */
  readonly marks: MarkColumns | null;
  readonly webhooks: readonly WebhookRule[];
  /** Null: it has no columns of files. */
  readonly files: FileTable | null;
}

/** Of a whole project, by the identity of tables. */
export interface ChangeTables {
  /** Names of the endpoints whose changes clients may be told. */
  readonly live: ReadonlySet<string>;
  readonly recorded: ReadonlyMap<string, RecordedTable>;
  /** By the table whose rows are written: the ways on which the database itself reaches rows of `recorded`. */
  readonly cascades: ReadonlyMap<string, readonly DatabaseCascade[]>;
}

export const noChanges: ChangeTables = Object.freeze({
  live: new Set<string>(),
  recorded: new Map(),
  cascades: new Map(),
});
