/** What a statement writes into foreign keys, to be compared with the rows that these may reference. */
import { allOf, type Assignment, type Condition, equals } from "../query/statement.ts";
import { limits } from "../values/limits.ts";
import type { Column, Table } from "../values/types/column.ts";
import type { Scalar } from "../values/scalar.ts";
import type { Referred, Scope } from "./scope.ts";

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
export interface ReferredRows extends Referred {
  readonly keys: readonly Column[];
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

const tupleText = (values: readonly Scalar[]): string => values.map(String).join("\0");

/** The different values that are written into the columns; none unless all of the columns are written. */
export function tuplesOf(
  { columns, rows }: WrittenValues,
  names: readonly string[],
): readonly (readonly Scalar[])[] {
  const places = names.map((name) => columns.findIndex((column) => column.name === name));
  if (places.includes(-1)) return [];
  const tuples = rows.map((row) => places.map((place) => row[place] ?? null));
  return [...new Map(tuples.map((values) => [tupleText(values), values])).values()];
}

/** Without the self-references to rows of the same statement, which are not stored yet. */
export function withoutOwn(
  tuples: readonly (readonly Scalar[])[],
  { keys }: ReferredRows,
  written: WrittenValues,
): readonly (readonly Scalar[])[] {
  const names = keys.map(({ name }) => name);
  const own = new Set(tuplesOf(written, names).map(tupleText));
  return tuples.filter((values) => !own.has(tupleText(values)));
}

/** Whether each value references a row. `count`: of the rows that the caller may reference. */
export async function haveAllRows(
  tuples: readonly (readonly Scalar[])[],
  { keys }: Pick<ReferredRows, "keys">,
  count: (where: Condition) => Promise<number>,
): Promise<boolean> {
  const [key] = keys;
  for (let at = 0; at < tuples.length && keys.length === 1; at += limits.inValuesMax) {
    const some = tuples.slice(at, at + limits.inValuesMax);
    const values = some.map(([value]) => value!);
    if ((await count({ kind: "in", column: key!, values, negated: false })) < values.length)
      return haveRowsEach(some, keys, count);
  }
  return keys.length === 1 || haveRowsEach(tuples, keys, count);
}

/** Two values may reference one row when the database ignores case. Then there are fewer rows than values. */
async function haveRowsEach(
  tuples: readonly (readonly Scalar[])[],
  keys: readonly Column[],
  count: (where: Condition) => Promise<number>,
): Promise<boolean> {
  for (const values of tuples) {
    const where = allOf(...keys.map((column, at) => equals(column, values[at]!)));
    if ((await count(where!)) === 0) return false;
  }
  return true;
}

export const assignedColumn = ({ column }: Assignment): Column => column;

/** Whether a change of these columns can move a row out of the scope. */
export function mayMove(columns: readonly Column[], within: Condition): boolean {
  if ("members" in within) return within.members.some((member) => mayMove(columns, member));
  const deciding = decidingColumns(within);
  return columns.some(({ name }) => deciding.some((one) => one.name === name));
}

function decidingColumns(within: Exclude<Condition, { kind: "and" | "or" }>): readonly Column[] {
  if (within.kind === "quantified") return within.steps[0]!.on.map(({ left }) => left);
  return within.kind === "fulltext" ? within.search.index.columns : [within.column];
}
