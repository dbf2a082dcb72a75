/**
 * Values of `reusable` columns: while a row is marked as deleted they have a suffix, so that a unique index lets other
 * rows use them. Marks and restore write and remove it; updates of marked rows keep it.
 */
import { findRows } from "../query/find-rows.ts";
import type { Queries } from "../query/session.ts";
import { sourceOf, type UpdateMany, type UpdateOne } from "../query/statement.ts";
import type { MarkedTable } from "../plans/soft-delete.ts";
import { validationFailed } from "../values/errors.ts";
import { limits } from "../values/limits.ts";
import type { Json } from "../values/json.ts";
import type { Row } from "../values/row.ts";
import type { Scalar } from "../values/scalar.ts";
import { isLonger } from "../values/text.ts";
import type { Column } from "../values/types/column.ts";
import { keyText, type KeyValue } from "../values/types/key.ts";
import type { Scope } from "./scope.ts";
import { isMarked } from "./visibility.ts";

const suffix = /~[0-9a-f]{10}$/;

/** The value of a reusable column while its row is marked. Throws `validationFailed` if the column is too short. */
export function withSuffix(column: Column, value: Json | Scalar, newId: () => string): Scalar {
  if (value === null) return null;
  const own = `~${newId()
    .replaceAll("-", "")
    .slice(0, limits.markSuffixLength - 1)}`;
  return appended(column, String(value), own);
}

/** The value that a reusable column had before its row was marked. */
export const withoutSuffix = (column: Column, row: Row): Scalar => {
  const value = row[column.name] ?? null;
  return value === null ? null : String(value).replace(suffix, "");
};

function appended(column: Column, value: string, own: string): string {
  if (isLonger(value, (column.lengthMax ?? Infinity) - own.length))
    throw validationFailed({
      [column.name]: ["is too long for the suffix that it gets while the record is deleted"],
    });
  return value + own;
}

/** What an update must know of marked rows. */
interface Suffixing {
  readonly marked: MarkedTable;
  /** The reusable columns that the update writes. */
  readonly reused: readonly Column[];
}

/** Null: the update changes no reusable column of rows that may be marked. */
export function suffixing(scope: Scope, update: UpdateOne | UpdateMany): Suffixing | null {
  const marked = scope.suffixedRows(update.table);
  if (marked === null) return null;
  const written =
    update.kind === "update" ? update.set.map(({ column }) => column) : update.columns;
  const names = new Set(written.map(({ name }) => name));
  const reused = marked.reusable.filter(({ name }) => names.has(name));
  return reused.length === 0 ? null : { marked, reused };
}

/**
 * The update with the suffixes of those of its rows that are marked. The rows are locked, so that none is marked
 * meanwhile. A value that ends with the suffix of its row was read there, and stays as it is.
 */
export async function keepingSuffixes<Update extends UpdateOne | UpdateMany>(
  queries: Pick<Queries, "all"> & { readonly scope: Scope },
  update: Update,
): Promise<Update> {
  const found = suffixing(queries.scope, update);
  if (found === null) return update;
  const { marked, reused } = found;
  const { flag, at } = marked.marks;
  const search = {
    source: sourceOf(update.table),
    by: update.key,
    columns: [...reused, ...[flag, at].filter((one) => one !== null)],
    lock: true,
  };
  const keys =
    update.kind === "update" ? [update.keyValue] : update.rows.map(({ keyValue }) => keyValue);
  const rows = await findRows(queries, search, keys);
  const names = new Set(reused.map(({ name }) => name));
  const suffixed = (column: Column, keyValue: KeyValue, value: Scalar): Scalar => {
    const row = rows.get(keyText(keyValue))?.[0];
    return row && names.has(column.name) && isMarked(row, marked.marks)
      ? withOwnSuffix(column, row, value)
      : value;
  };
  if (update.kind === "update") {
    const { keyValue, set } = update;
    const changed = set.map((one) =>
      one.kind === "set" ? { ...one, value: suffixed(one.column, keyValue, one.value) } : one,
    );
    return { ...update, set: changed };
  }
  const changed = update.rows.map(({ keyValue, values }) => ({
    keyValue,
    values: values.map((value, place) => suffixed(update.columns[place]!, keyValue, value)),
  }));
  return { ...update, rows: changed };
}

function withOwnSuffix(column: Column, row: Row, value: Scalar): Scalar {
  if (value === null) return null;
  const own = suffix.exec(String(row[column.name] ?? ""))?.[0];
  if (own === undefined) return withSuffix(column, value, () => crypto.randomUUID());
  return String(value).endsWith(own) ? value : appended(column, String(value), own);
}
