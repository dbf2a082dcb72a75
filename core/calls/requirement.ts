/** What an action requires before it can be switched on, and the groups that switch on several at once. */

/** Names under `action` of an endpoint's file that mean several actions. */
export type ActionGroup = "workflow" | "export" | "import" | "lock";

/** What an action requires of the endpoint's file, its table, or the installation. */
export type Requirement =
  /** A table to write to, with a key that identifies one record. */
  | "key"
  /** A table to write to; without a key, a database that answers what it stored. */
  | "table"
  /** The database inserts, updates or deletes rows of that table. */
  | "inserts"
  | "updates"
  | "deletes"
  /** A view, query or table to read. */
  | "source"
  /** The datatablesQuery, or a table. */
  | "gridSource"
  /** The exportQuery, or what the other actions read. */
  | "exportSource"
  | "adjustConfig"
  | "masterDetail"
  /** A procedure of the database. */
  | "procedure"
  /** Columns that the service numbers. */
  | "numbers"
  /** Columns that hold files. */
  | "files"
  /** Changes that are recorded. */
  | "history"
  /** Columns that mark a row as deleted. */
  | "softDelete"
  /** A column that holds the record's status. */
  | "status"
  /** Storage with transactions. */
  | "transactions"
  /** Columns in which the service records who changed the record, and when. */
  | "auditColumns"
  /** A queue, and a place for files. */
  | "jobs"
  /** A store of locks. */
  | "locks";

/** Whether an action needs neither jobs, nor locks, nor files of the installation. */
export const onlyUsesDatabase = (requires: readonly Requirement[]): boolean =>
  !requires.some((one) => one === "jobs" || one === "locks" || one === "files");
