/** Document numbers as rules of tables, whichever endpoint's file contains them: every new record gets its numbers. */
import type { Column, Table } from "../values/types/column.ts";

/** A piece of a number. */
export type NumberPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "date"; readonly digits: "yyyy" | "yy" | "MM" | "dd" }
  /** `digits`: padded with zeros to so many, and never more; null = as many as it has. */
  | { readonly kind: "seq"; readonly digits: number | null }
  | { readonly kind: "column"; readonly column: Column };

/** A column whose values the service numbers. */
export interface NumberPlan {
  readonly table: Table;
  readonly column: Column;
  /** With exactly one `seq`. */
  readonly format: readonly NumberPart[];
  /** Each of their values has a counter of its own. */
  readonly by: readonly Column[];
  /** Those of `by` in which a number need not differ: no unique index covers the column without them. */
  readonly within: readonly Column[];
  /** Whose day the number names; null = today. */
  readonly date: Column | null;
  /** The first number of a counter. */
  readonly start: number;
  /** The status at which a record gets its number; null = when it is made. */
  readonly onStatus: { readonly column: Column; readonly status: string } | null;
  /** The roles that may send a number; null = everybody may. */
  readonly manual: ReadonlySet<string> | null;
}

/** By the table's identity. */
export type NumberTables = ReadonlyMap<string, readonly NumberPlan[]>;

export const noNumbers: NumberTables = new Map();

/** The columns on which the numbers of a plan depend. */
export const columnsBehind = ({ format, by, date }: NumberPlan): Column[] => [
  ...new Set([
    ...by,
    ...(date ? [date] : []),
    ...format.flatMap((part) => (part.kind === "column" ? [part.column] : [])),
  ]),
];
