/**
 * What an endpoint's file lets each role do: actions, rows and columns. `core/config/access-plan.ts` makes it of the file;
 * `core/callers/role-access.ts` applies it to callers.
 */
import type { Table } from "../values/column.ts";
import type { Json } from "../values/json.ts";

export interface AccessRules {
  /** By role: the actions that it may use. A role without an entry may use none. */
  readonly actions: ReadonlyMap<string, ReadonlySet<string>>;
  /** Roles that may use every action. They also reach the jobs of other callers. */
  readonly administrators: ReadonlySet<string>;
  /** Roles with an action that shows rows of the endpoint. */
  readonly readers: ReadonlySet<string>;
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
  readonly column: string;
  /** In capitals. */
  readonly operator: string;
  readonly value: RowValue;
}

/** What the column is compared with: a value of the file, or the claim of the caller at this path. */
export type RowValue =
  | { readonly kind: "fixed"; readonly value: Json }
  | { readonly kind: "claim"; readonly path: readonly string[] };

/** The role of every caller with credentials. */
export const everyRole = "*";
