/** What the actions of the grid need. */
import type { Column, Columns, Source } from "../values/types/column.ts";
import type { TextIndex } from "../values/types/text-index.ts";
import type { Key } from "../values/types/key.ts";

/** What the grid needs. */
export interface GridPlan {
  readonly source: Source;
  /** Columns that rows show, in order. */
  readonly columns: Columns;
  /** See `ReadPlan`. */
  readonly named: Columns;
  /** See `ReadPlan`. */
  readonly fullText: TextIndex | null;
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
  /** See `ReadPlan`. */
  readonly dependsOn: readonly string[];
  /** See `ReadPlan`. */
  readonly key: Key;
}
