/** What a statement writes into foreign keys, and the rows that these may point at. `scoped-session.ts` holds one against the other. */
import type { Assignment, Condition } from "../query/statement.ts";
import type { Column, Table } from "../values/column.ts";
import type { Scalar } from "../values/scalar.ts";
import type { Scope } from "./scope.ts";

/** Columns that a statement writes, and their values. */
export interface WrittenValues {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Scalar[])[];
}

export function assigned(set: readonly Assignment[]): WrittenValues {
  const given = set.filter((one) => one.kind === "set");
  return { columns: given.map(assignedColumn), rows: [given.map(({ value }) => value)] };
}

/** The rows that a foreign key may reference for this caller, and the referenced columns. */
export interface ReferredRows {
  readonly table: Table;
  readonly keys: readonly Column[];
  readonly rows: Condition;
}

interface Reference {
  readonly columns: readonly string[];
  readonly target: ReferredRows;
}

/** The foreign keys of the table that may not reference every row. */
export function limitedReferences({ foreignKeys }: Table, scope: Scope): readonly Reference[] {
  if (foreignKeys.length === 0) return none;
  return foreignKeys.flatMap((key) => {
    const referred = scope.referredRows(key);
    if (referred === null) return [];
    const keys = key.referencedColumns.map((name) => referred.table.columns.get(name));
    return keys.every((column) => column !== undefined)
      ? [{ columns: key.columns, target: { ...referred, keys } }]
      : [];
  });
}

const none: readonly Reference[] = [];

export const distinct = (
  tuples: readonly (readonly Scalar[])[],
): readonly (readonly Scalar[])[] => [
  ...new Map(tuples.map((values) => [values.map(String).join("\0"), values])).values(),
];

export const assignedColumn = ({ column }: Assignment): Column => column;
