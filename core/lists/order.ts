/**
 * The end of every list's order: the columns of the key, or, without a key, every shown column. This makes the order
 * total, so pages never overlap. Rows that are equal in all these columns look the same to every client.
 */
import { type Column, type Columns, derivedColumn } from "../values/types/column.ts";
import { columnTypes } from "../values/types/column-types.ts";
import { type AppError, invalidParameter } from "../values/errors.ts";
import { hashOf } from "../values/hash.ts";
import type { Sort } from "../query/statement.ts";

/** The parts of a plan that an order needs. */
export interface Listed {
  /** The columns that requests may name. */
  readonly columns: Columns;
  /** The columns that identify rows; empty = no such columns are known. */
  readonly key: readonly Column[];
}

/**
 * `first`, which names each column once, followed by the columns that make the order total, as far as they can be
 * sorted.
 */
export function orderedBy(first: readonly Sort[], listed: Listed): Sort[] {
  const last = lastColumns(listed).map((column): Sort => ({ column, direction: "asc" }));
  if (first.length === 0) return last;
  const isNamed = ({ column }: Sort) => first.some((term) => term.column === column);
  return [...first, ...last.filter((term) => !isNamed(term))];
}

/** The error for a second page if the list's order is not total; otherwise null. */
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
    return isFolded ? inOrder(column, "exactOf") : column;
  });
}

const inOrders = {
  exactOf: new WeakMap<Column, Column>(),
  foldedOf: new WeakMap<Column, Column>(),
} as const;

/** The column in another order of its texts (see `Column`). One object per column: statements are cached by it. */
export function inOrder(column: Column, order: keyof typeof inOrders): Column {
  let made = inOrders[order].get(column);
  if (made === undefined) {
    const { nullable } = column;
    const name = `rowgate_${order}_${hashOf(column.name)}`;
    made = derivedColumn(name, "text", { nullable, [order]: column, native: "text", lengthMax });
    inOrders[order].set(column, made);
  }
  return made;
}

/** Some engines sort longer texts by a prefix only. */
const lengthMax = 255;
