/** Lists as one text: what a statement asks for, and what it gets. */
import type { Json } from "../values/json.ts";

/** How rows become one text. */
export interface TextForm {
  /** Rows in the text at most: the first ones. */
  readonly rowsMax: number;
  /** True: they are turned around first, because they were read from the end of the list. Absent: false. */
  readonly isReversed?: boolean;
}

/** Rows as answers show them, as one text, in the order of `TextForm`. */
export interface ListText {
  /** JSON of the list of the first rows, as `JSON.stringify` would write them. It leaves out marks (`Column.markOf`). */
  readonly text: string;
  /** Rows in the text. */
  readonly shown: number;
  /** Rows that the statement gave, those behind the text too. */
  readonly found: number;
  /** The marks of the rows from the last one of a full text on, where the statement selects marks. */
  readonly ends: readonly Readonly<Record<string, Json>>[];
}
