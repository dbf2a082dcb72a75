/**
 * The rows that a caller may touch. `scoped-session.ts` puts a scope's conditions into every statement; `access.ts` says which scope a caller
 * has.
 */
import type { Source } from "../values/column.ts";
import type { Condition } from "../query/statement.ts";

export interface Scope {
  /** Equal for scopes that let the same rows through: a part of the key of answers that are kept. Empty: all rows. */
  readonly key: string;
  /** True: nothing is narrowed anywhere. */
  readonly isWhole: boolean;
  /** The rows of the source that the caller may touch; null = all of them. The condition names columns of `source.columns`. */
  rowsOf(source: Source): Condition | null;
}

/** Every row of every source. */
export const wholeScope: Scope = Object.freeze({ key: "", isWhole: true, rowsOf: () => null });
