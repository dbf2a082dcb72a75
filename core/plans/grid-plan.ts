/** What the actions of the grid need. */
import type { Column } from "../values/types/column.ts";
import type { ReadPlan } from "./read-plan.ts";

/** What the grid needs. */
export interface GridPlan extends Omit<ReadPlan, "scope" | "times"> {
  /** Names of the columns that the search over all columns includes; null = all. */
  readonly searched: ReadonlySet<string> | null;
  /** Fields whose values every answer offers to the extensions SearchPanes, SearchBuilder and ColumnControl. */
  readonly paneColumns: readonly Column[];
  readonly builderColumns: readonly Column[];
  readonly listColumns: readonly Column[];
  /** Names with dots, as `a.b`, and the path of each in a row. */
  readonly nestedNames: ReadonlyMap<string, readonly string[]>;
  /** The fields whose texts become DT_RowId, joined with `_`; empty = none. */
  readonly rowId: readonly Column[];
  /** True: searches look for each word of their text; false: for the text as it is. */
  readonly searchesWords: boolean;
  /** True: a length of -1, or above the maximum, is the maximum; false: it is refused. */
  readonly clampsLength: boolean;
  /** True: an error is answered with status 200, so that the grid shows its text. */
  readonly showsErrorsInline: boolean;
}
