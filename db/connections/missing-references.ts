/** Finds which references of a row have no row, where the engine only says that one of them has none: SQLite. */
import type {
  Insert,
  Select,
  Statement,
  UpdateMany,
  UpdateOne,
} from "../../core/query/statement.ts";
import { allOf, equals, selectFrom } from "../../core/query/statement.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import type { Column } from "../../core/values/types/column.ts";
import { referenceMissing, UnnamedReference } from "./app-error.ts";
import type { Execute } from "./execute.ts";

/** The same failure of the write, with the columns whose references have no row if it was the write of one row. */
export async function withReferences(
  failure: Error,
  { statement, read }: { readonly statement: Statement; readonly read: Execute },
): Promise<Error> {
  if (!(failure instanceof UnnamedReference)) return failure;
  const missing: string[] = [];
  for (const { columns, select } of referencesOf(statement))
    if ((await read(select)).rows.length === 0) missing.push(...columns);
  return missing.length === 0 ? failure : referenceMissing(missing, failure.cause);
}

/** The references whose values are all written, and a statement that finds the row of each. */
function referencesOf(
  statement: Statement,
): { readonly columns: readonly string[]; readonly select: Select }[] {
  if (statement.kind !== "insert" && statement.kind !== "update" && statement.kind !== "updateMany")
    return [];
  const { schema, identity, foreignKeys } = statement.table;
  const written = writtenRow(statement);
  return foreignKeys.flatMap(
    ({ columns, referencedTable: name, referencedIdentity, referencedColumns }) => {
      const places = columns.map((one) => written.get(one));
      const isOwn = (column: string, at: number): boolean =>
        written.get(column)?.value === places[at]?.value;
      // A row may refer to itself.
      if (referencedIdentity === identity && referencedColumns.every(isOwn)) return [];
      const found = places.flatMap((place, at) =>
        place && place.value !== null
          ? { column: { ...place.column, name: referencedColumns[at]! }, value: place.value }
          : [],
      );
      if (found.length < columns.length) return [];
      const known = new Map(found.map(({ column }) => [column.name, column]));
      const select = selectFrom(
        { kind: "table", schema, name, columns: known },
        {
          columns: [found[0]!.column],
          where: allOf(...found.map(({ column, value }) => equals(column, value))),
          limit: 1,
        },
      );
      return { columns, select };
    },
  );
}

interface Place {
  readonly column: Column;
  readonly value: Scalar;
}

/** By column; empty for several rows. */
function writtenRow(statement: Insert | UpdateOne | UpdateMany): ReadonlyMap<string, Place> {
  const rows =
    statement.kind === "insert"
      ? statement.rows
      : statement.kind === "updateMany"
        ? statement.rows.map(({ values }) => values)
        : [[]];
  const [row, ...others] = rows;
  if (row === undefined || others.length > 0) return new Map();
  const columns = statement.kind === "update" ? [] : statement.columns;
  const set = statement.kind === "insert" ? [] : statement.set;
  const places: Place[] = [
    ...columns.map((column, at) => ({ column, value: row[at] ?? null })),
    ...set.flatMap((one) => (one.kind === "set" ? { column: one.column, value: one.value } : [])),
  ];
  return new Map(places.map((place) => [place.column.name, place]));
}
