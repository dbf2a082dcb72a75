/**
 * The columns of a table that has every type that a server can create. `values`: two different ones, as answers show
 * them and as the service accepts them. `wide-tables.test.ts` sends requests about each.
 */
import type { ColumnType } from "../../core/values/types/column.ts";
import type { Json } from "../../core/values/json.ts";

/** What the service does with a column: everything, everything by the text of the database, or show it. */
export type Group = "full" | "text" | "shown only";

export interface WideColumn {
  readonly name: string;
  /** The type as in CREATE TABLE, after the name. */
  readonly native: string;
  readonly group: Group;
  readonly kind: ColumnType;
  readonly values: readonly [Json, Json];
  /** Values that the column refuses. */
  readonly bad?: readonly Json[];
  /** SQL expressions for the rows' values where the service cannot write them; null = the database fills the column. */
  readonly sql?: readonly [string, string] | null;
  /** The database holds a value in each row: no row is without one. */
  readonly isAlwaysFilled?: true;
  /** Its type differs from another column's only in the elements: sorting and counting are tested there. */
  readonly isVariant?: true;
  /** The extension that the type is of. */
  readonly extension?: string;
  /** A value of an element, where the column holds others. */
  readonly member?: Json;
}

export interface WideTable {
  /** Statements before the table, without extensions. */
  readonly setUp: readonly string[];
  readonly columns: readonly WideColumn[];
  /** SQL after the columns. */
  readonly suffix?: string;
}

type Facts = Omit<WideColumn, "name" | "native" | "group" | "kind" | "values">;

/** A column of type `native`, with the name that it gives. */
const columnsOf =
  (group: Group) =>
  (
    kind: ColumnType,
    native: string,
    values: readonly [Json, Json],
    facts: Facts & { name?: string } = {},
  ): WideColumn => ({
    name: `c_${native
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "_")
      .replace(/^_|_$/g, "")}`,
    native,
    group,
    kind,
    values,
    ...facts,
  });

export const full = columnsOf("full");
export const text = columnsOf("text");
export const shownOnly = columnsOf("shown only");
