/**
 * The ways past a caller's scope, in one list: statements that are not about rows of an entity, or about rows whose header was found within
 * the scope. `past` in `scoped-session.ts` takes the name of one; whoever needs a new way writes down here why it is safe.
 */

export const passages = {
  /** Rows of `rowgate_requests`, the service's own. Their ids hold the caller. */
  requestLedger: "answers that are kept for an Idempotency-Key",
  /** Rows of `rowgate_jobs`, the service's own. The job was found for its owner before. */
  jobLedger: "results of imports",
  /** Each statement names the key of a header, which was read, locked or stored within the scope in the same transaction. */
  details: "details of a header within the scope",
  /** SQL of the operator's own: what it shows is the operator's decision. */
  handlerQuery: "SQL of the operator's handlers",
  /** Whether a row that an import would store is somebody else's: the row becomes an error, and nothing of the other is shown. */
  importKeys: "records outside of the scope with the keys of an import's rows",
} as const;

export type Passage = keyof typeof passages;
