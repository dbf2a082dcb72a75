/** What the actions need that write rows of one table. */
import type { AuditColumns } from "./audit-columns.ts";
import type { Column, Columns, Table } from "../values/types/column.ts";
import type { Key } from "../values/types/key.ts";
import type { NewKeyColumns } from "../values/types/new-key.ts";

/**
 * What create needs. `key` is empty if the table has none; `keyColumns` is the key by name, because it has its own rules
 * and is checked separately, and always the same map; `shown` is fieldName, the key and the audit columns, less the
 * hidden ones.
 */
export interface InsertPlan extends NewKeyColumns {
  readonly table: Table;
  /** Fields that a body may set: fieldName, less the key and the computed, read-only and audit columns. */
  readonly writable: Columns;
  /** Fields of fieldName that only their rules' defaults fill, because they are read-only. Always the same map. */
  readonly presets: Columns;
  readonly audit: AuditColumns;
  /** The flag of soft delete, if only the service fills it in a new row; null = there is nothing to fill. */
  readonly flag: Column | null;
  /** True when reading goes through a view or query, so that a written record is read back through it. */
  readonly readBack: boolean;
}

/** What the other writing actions need; present only for an entity with a table that has a key. */
export interface WritePlan extends InsertPlan {
  /** One for each table of details that go with their header; empty = none. */
  readonly cascades: readonly Cascade[];
}

/** Details that are deleted with their header. */
export interface Cascade {
  /** The service removes them before the header, with cascadeDelete; or a foreign key of the database does. */
  readonly by: "service" | "database";
  readonly table: Table;
  /** The detail column that holds the header's key. */
  readonly foreignKey: Column;
  readonly key: Key;
}

export interface AdjustPlan {
  readonly reasonRequired: boolean;
  readonly fields: ReadonlyMap<string, AdjustField>;
  /** Their columns, less the hidden ones: answers tell them even if fieldName does not name them. */
  readonly shown: Columns;
}

/** One field that `adjust` may change, and the smallest result that it may have. */
export interface AdjustField {
  readonly column: Column;
  /** Exact decimal text; null = no minimum beyond the column's own range. */
  readonly min: string | null;
}
