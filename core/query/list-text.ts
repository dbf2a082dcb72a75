/** Lists as one text: what a statement asks for, and what it gets. */
import type { Json, ReadyJson } from "../values/json.ts";

/** How rows become one text. */
export interface TextForm {
  /** Rows in the text at most: the first ones. */
  readonly rowsMax: number;
  /** True: they are turned around first, because they were read from the end of the list. Absent: false. */
  readonly isReversed?: boolean;
}

/** Rows as answers show them, as one text, in the order of `TextForm`. */
export interface ListText {
  /**
   * The list of the first rows, without marks (`Column.markOf`), as a member of an answer: the text that `JSON.stringify` would make of them, or
   * the rows themselves where an engine is no quicker in writing it.
   */
  readonly data: ReadyJson | readonly Readonly<Record<string, Json>>[];
  /** Rows in `data`. */
  readonly shown: number;
  /** Rows that the statement gave, those behind them too. */
  readonly found: number;
  /** The marks of the rows from the last one of a full list on, where the statement selects marks. */
  readonly ends: readonly Readonly<Record<string, Json>>[];
}
