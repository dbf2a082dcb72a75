/** Which actions, rows and columns an endpoint's file allows each role. */
import type { JoinedHop, Narrowed } from "../query/statement.ts";
import type { Column, Table } from "../values/types/column.ts";
import type { Json } from "../values/json.ts";

export interface AccessRules {
  /** By role: the actions that it may use. A role without an entry may use none. */
  readonly actions: ReadonlyMap<string, ReadonlySet<string>>;
  /**
   * Roles that may use every action, on every row and column. They also reach the jobs of other callers, whose files
   * hold what these callers see.
   */
  readonly administrators: ReadonlySet<string>;
  /** Roles with an action that shows rows of the endpoint. */
  readonly readers: ReadonlySet<string>;
  /** Roles with an action that writes rows of the endpoint. */
  readonly writers: ReadonlySet<string>;
  /** By role: a row must meet all of these. A role without an entry sees every row. */
  readonly rows: ReadonlyMap<string, readonly RowRule[]>;
  /** By role: columns that it never sees. */
  readonly hidden: ReadonlyMap<string, ReadonlySet<string>>;
  /** By role: columns that it never writes. */
  readonly readOnly: ReadonlyMap<string, ReadonlySet<string>>;
  /** The endpoint's own table; null where it has none. */
  readonly table: Table | null;
}

/** One condition on a column, as in `where`. */
export interface RowRule {
  /** Its name, or a path. */
  readonly column: string;
  /** Where the path leads; absent = it is a column of the row itself. */
  readonly path?: RulePath;
  /** In capitals. */
  readonly operator: string;
  readonly value: RowValue;
}

/** A column of a related record, whatever callers may see there. */
export interface RulePath {
  /** One for each relation, with the rows that are not marked as deleted. At least one. */
  readonly steps: readonly Narrowed<JoinedHop>[];
  readonly column: Column;
}

/** What the column is compared with: a value of the file, or the claim of the caller that `claimAt` finds. */
export type RowValue =
  | { readonly kind: "fixed"; readonly value: Json }
  | { readonly kind: "claim"; readonly path: string };

/** The role of every caller with credentials. */
export const everyRole = "*";
