/**
 * The complete list of statements that bypass a caller's scope: statements that are not about rows of an entity, or
 * about rows whose header was found within the scope. `past` in `scoped-session.ts` takes one of these names. A new
 * entry must say why it is safe.
 */

export const passages = {
  /** Rows of the service's own table `rowgate_requests`. Their ids contain the caller. */
  requestLedger: "answers that are kept for an Idempotency-Key",
  /** Rows of the service's own table `rowgate_jobs`. The owner of the job was checked before. */
  jobLedger: "results of imports",
  /** Each statement names the key of a header, which was read, locked or stored within the scope in the same transaction. */
  details: "details of a header within the scope",
  /**
   * Rows that point at a row which delete marks, and rows that a row to be restored points at: the database itself would
   * look at all of them, and change them by its rules. Nothing of them is shown.
   */
  references: "rows that point at a row that is marked or restored, and rows that it points at",
  /** SQL written by the operator, who decides what it shows. */
  handlerQuery: "SQL of the operator's handlers",
  /**
   * Whether a row of an import conflicts with a record outside the scope. The row is reported as an error, and nothing
   * of the other record is shown.
   */
  importKeys: "records outside of the scope with the keys of an import's rows",
} as const;

export type Passage = keyof typeof passages;
