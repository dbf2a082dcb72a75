/** What the action call needs: a procedure of the database, its parameters, and what of its answer is shown. */
import type { CallText } from "./database-catalog.ts";
import type { QueryParams } from "./query-params.ts";
import type { Columns } from "../values/types/column.ts";

export interface ProcedurePlan {
  /** What requests and claims give. */
  readonly params: QueryParams;
  /** Names of the values that the texts take, by place. */
  readonly given: readonly string[];
  /** Run one after the other in one transaction; the answer is that of the last one. */
  readonly texts: readonly CallText[];
  /** The parameters that it answers; empty: it answers rows. */
  readonly outs: Columns;
  /** Names that the caller may not see among the columns of rows. */
  readonly hidden: ReadonlySet<string>;
}
