/** Lists as one text: what a statement asks for, and what it returns. */
import type { Json } from "../values/json.ts";
import type { ReadyJson } from "../values/ready-json.ts";

/** How rows become one text. */
export interface TextForm {
  /** Rows in the text at most: the first ones. */
  readonly rowsMax: number;
  /** True: the rows were read from the end of the list, so their order is reversed first. Absent: false. */
  readonly isReversed?: boolean;
  /** True: `data` is the rows themselves. Absent: false. */
  readonly asRows?: boolean;
  /** True: `data` is records that nest, as those of `nestingOf`. Absent: it shows each column as a member. */
  readonly nests?: boolean;
}

/** Rows as answers show them, as one text, in the order of `TextForm`. */
export interface ListText {
  /**
   * The list of the first rows, without marks (`Column.markOf`), as a member of an answer: the text that
   * `JSON.stringify` would write, or the rows themselves where an engine writes it no faster.
   */
  readonly data: ReadyJson | readonly Readonly<Record<string, Json>>[];
  /** Rows in `data`. */
  readonly shown: number;
  /** Rows that the statement returned, including those beyond the shown ones. */
  readonly found: number;
  /** If the statement selects marks: those of a full list's last row, and of the rows after it. */
  readonly ends: readonly Readonly<Record<string, Json>>[];
}
