/** What the composite actions need: the details of a header. */
import type { HeaderTotal } from "./document-tables.ts";
import type { MarkedTable } from "./soft-delete.ts";
import type { InsertPlan } from "./write-plan.ts";
import type { Computation, ParameterQuery, Sort } from "../query/statement.ts";
import type { Rules } from "../rules/compile-rules.ts";
import type { Column, Columns } from "../values/types/column.ts";
import type { Key } from "../values/types/key.ts";

/** What the composite actions need besides the plans of the header. */
export interface CompositePlan {
  /** The header's table as the configuration names it, perhaps with its schema: a body may use this name too. */
  readonly tableName: string;
  /** At least one. The name of its table is the member of the header's object that holds the details. */
  readonly details: readonly DetailPlan[];
  /** Fields of the header that a body may set: those of its WritePlan, less the totals. */
  readonly writable: Columns;
  /** The totals, less the hidden ones: answers of writes tell them even if fieldName does not name them. */
  readonly shownTotals: Columns;
}

/** One table of details of a composite. `keyColumns` and `namesRecords` are about `lineKey`. */
export interface DetailPlan extends Omit<InsertPlan, "readBack"> {
  /** See `CompositePlan`. */
  readonly tableName: string;
  /** `key` without `foreignKey`: identifies a detail within its header. Not empty if details are written. */
  readonly lineKey: Key;
  /** The column that holds the header's key. */
  readonly foreignKey: Column;
  readonly rules: Rules;
  /** The operator's own query of the details; null = they are read from the table. */
  readonly query: ParameterQuery | null;
  /** Names of the query's columns that answers show. */
  readonly queryShown: readonly string[];
  /** The order of details that are read from the table. */
  readonly sort: readonly Sort[];
  /** In an order in which each finds the results that it needs. */
  readonly computed: readonly Computation[];
  readonly totals: readonly HeaderTotal[];
  /** How details are marked instead of deleted; null = they are deleted. */
  readonly marking: MarkedTable | null;
}
