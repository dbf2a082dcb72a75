/**
 * The complete list of statements that bypass a caller's scope: statements that are not about rows of an entity, or
 * about rows whose header was found within the scope. `past` in `scoped-session.ts` takes one of these names. A new
 * entry must say why it is safe.
 */

export const passages = {
  /** Rows of the service's own table `rowgate_requests`. Their ids contain the caller. */
  requestLedger: "answers that are kept for an Idempotency-Key",
  /**
   * Rows of the service's own tables `rowgate_changes`, of which each is held against the caller's scope and columns
   * before it is shown, and `rowgate_change_order`, of which none is (`core/changes/seen-changes.ts`).
   */
  changeLog: "recorded changes of records",
  /**
   * Rows of the service's own table `rowgate_numbers`, and whether any record has a number. The caller may make or
   * change the record that would get it.
   */
  numbers: "counters of document numbers, and numbers that are taken",
  /**
   * Rows of the service's own table `rowgate_files`. A file is only answered for a record whose field was read within the
   * scope, and only given to a record by the caller who uploaded it.
   */
  fileLedger: "where the files of records belong",
  /** Rows of the service's own table `rowgate_jobs`. The owner of the job was checked before. */
  jobLedger: "results of imports",
  /**
   * Each statement names the key of a header that was read, locked or stored within the scope in the same transaction.
   * Of its lines it reaches those that the caller can read, or write, through the endpoints of their own table.
   */
  readLines: "lines of a header within the scope",
  writtenLines: "lines that are written with a header within the scope",
  /** Formulas and totals count every line of a document, also those that the caller cannot see. They show no line. */
  totals: "lines that the totals of a header count",
  /**
   * Rows that reference a row which delete marks, and rows that a restored row references. The database itself would
   * check all of them, and change them by its rules. None of their values are shown.
   */
  references: "rows that point at a row that is marked or restored, and rows that it points at",
  /** SQL written by the operator, who decides what it shows. */
  handlerQuery: "SQL of the operator's handlers",
  /** The operator wrote the procedure, and decides what it does and shows. */
  procedure: "a procedure of the database",
  /** It reads no table: the database only says which texts it equates. */
  lockNames: "names of the locks of a batch",
  /**
   * Whether a row of an import, or a record of upsert, conflicts with a record outside the scope. It is reported as an
   * error, and nothing of the other record is shown.
   */
  takenKeys:
    "records outside of the scope with the keys of an import's rows, or of upsert's records",
  /**
   * Records that rows of an import refer to, with the condition that the write itself holds them against. Only whether
   * they meet it is told.
   */
  referredRows: "records that rows of an import refer to",
} as const;

export type Passage = keyof typeof passages;
