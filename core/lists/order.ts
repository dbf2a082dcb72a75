/**
 * The end of every list's order: the columns of the key, or, where rows have none, every column that they show. So the order is
 * total, and pages never overlap. Rows that are equal in all of that are the same to every client.
 */
import { type Column, type Columns, derivedColumn } from "../values/column.ts";
import { columnTypes } from "../values/column-types.ts";
import { type AppError, invalidParameter } from "../values/errors.ts";
import { hashOf } from "../values/hash.ts";
import type { Sort } from "../query/statement.ts";

/** What a plan says of its rows. */
export interface Listed {
  /** What requests may name. */
  readonly columns: Columns;
  /** The columns that tell rows apart; empty = nothing is known to. */
  readonly key: readonly Column[];
}

/**
 * `first`, which names each column once, and behind it what makes the order total, as far as the columns can be
 * ordered.
 */
export function orderedBy(first: readonly Sort[], listed: Listed): Sort[] {
  const last = lastColumns(listed).map((column): Sort => ({ column, direction: "asc" }));
  if (first.length === 0) return last;
  const isNamed = ({ column }: Sort) => first.some((term) => term.column === column);
  return [...first, ...last.filter((term) => !isNamed(term))];
}

/** Why the list has no second page: its order is not total. Null where it is. */
export function onlyPage({ columns, key }: Listed): AppError | null {
  if (key.length > 0) return null;
  const unordered = [...columns.values()].find(({ type }) => !columnTypes[type].isSorted);
  if (unordered === undefined) return null;
  return invalidParameter(
    `This endpoint has one page only, as its records have no key, and the column ${unordered.name} has no order`,
  );
}

function lastColumns({ columns, key }: Listed): readonly Column[] {
  if (key.length > 0) return key;
  return [...columns.values()].flatMap((column) => {
    const { isSorted, isFolded } = columnTypes[column.type];
    if (!isSorted) return [];
    return isFolded ? exactOf(column) : column;
  });
}

const exact = new WeakMap<Column, Column>();

/** The texts of a column in an order that tells all of them apart: always the same object, as statements are kept by their columns. */
function exactOf(column: Column): Column {
  let made = exact.get(column);
  if (made === undefined) {
    const { nullable } = column;
    const name = `rowgate_exact_${hashOf(column.name)}`;
    made = derivedColumn(name, "text", { nullable, exactOf: column, native: "text", lengthMax });
    exact.set(column, made);
  }
  return made;
}

/** No engine sorts such a text by its beginning alone. */
const lengthMax = 255;
