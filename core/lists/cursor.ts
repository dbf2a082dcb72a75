/**
 * Paging by keyset: a cursor states at which row a page ended, and the next page begins after it, even if rows were
 * added or removed meanwhile. It contains the row's marks (`Column.markOf`) in the sort columns, because the JSON form
 * of a value may lack digits that decide the order. It is not secret and grants nothing: scope and filter are those of
 * the request that uses it.
 */
import type { Grammar } from "../grammar/grammar.ts";
import { type Column, derivedColumn, type Hop } from "../values/types/column.ts";
import { AppError, type ErrorKind, invalidParameter } from "../values/errors.ts";
import { fromBase64, toBase64 } from "../values/formats.ts";
import { hashOf } from "../values/hash.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import { closedObject } from "../values/json-shapes.ts";
import { limits } from "../values/limits.ts";
import type { Pagination } from "./page.ts";
import type { Row } from "../values/row.ts";
import type { ListText } from "../query/list-text.ts";
import { compares } from "../query/key-conditions.ts";
import {
  allOf,
  type Condition,
  equals,
  noRow,
  type Select,
  type Sort,
} from "../query/statement.ts";
import { columnTypes } from "../values/types/column-types.ts";

/** Everything that determines a list's rows and their order. Other lists refuse its cursors. */
export interface CursorList {
  /** Project and endpoint. */
  readonly name: string;
  /** At least one term; together they distinguish all rows. */
  readonly sort: readonly Sort[];
  /** False: the sort ends with all that the records show. */
  readonly hasKey: boolean;
  /** What the request filters by, without the operator's scope. */
  readonly filter: Condition | null;
}

/** A mark for each term of the sort; null if the row has no value. */
type Place = readonly (string | null)[];

export interface CursorPage {
  readonly list: CursorList;
  readonly perPage: number;
  /** The row before the page; null = the beginning of the list. */
  readonly after: Place | null;
}

/** The cursor in a request: true begins, a text continues; null without paging by cursor. */
export const cursor: Grammar<true | string | null> = {
  read(sent) {
    if (sent === undefined || sent === null || sent === false) return null;
    if (sent === true || typeof sent === "string") return sent;
    throw invalidParameter("cursor must be true, or the next_cursor of an answer");
  },
  schema: () => ({
    type: ["boolean", "string", "null"],
    pattern: "^[A-Za-z0-9_-]+$",
    maxLength: limits.cursorLengthMax,
    description: "true begins; the next_cursor of an answer goes on.",
  }),
};

/** Rejects (Invalid parameter) a cursor that is not of this list. */
export const placeBehind = (sent: true | string, list: CursorList): CursorPage["after"] =>
  sent === true ? null : readCursor(sent, list);

/** As `pageBehind` makes it. */
export const cursorPaginationSchema: JsonSchema = closedObject(
  {
    per_page: { type: "integer", minimum: 0 },
    next_cursor: { type: ["string", "null"] },
    has_next: { type: "boolean" },
  },
  ["per_page", "next_cursor", "has_next"],
);

/** The list's statement for this page, with the marks of each row, and one more row to detect a next page. */
export function selectPage(select: Select, { list, perPage, after }: CursorPage): Select {
  const behind = after && isBehind(list.sort.map((term, at) => placed(term, after[at] ?? null)));
  return {
    ...select,
    columns: [...select.columns, ...list.sort.map(({ column }) => markOf(column))],
    where: allOf(select.where, behind),
    limit: perPage + 1,
    offset: 0,
  };
}

/**
 * The `pagination` of a page, from the text of the rows of `selectPage`, of which it shows `perPage`. Rejects (Invalid
 * parameter) if the next row has the same marks as the last one, which happens in views: no cursor can separate the
 * two.
 */
export function pageBehind(
  { found, ends }: Pick<ListText, "found" | "ends">,
  { list, perPage }: CursorPage,
): Pagination {
  const hasNext = found > perPage;
  const [last, following] = ends.map((row) => placeOf(row, list.sort));
  if (last !== undefined && following?.every((mark, at) => mark === last[at])) {
    throw invalidParameter(
      list.hasKey
        ? "The primary key is not unique in this endpoint, so its records cannot be paged by cursor; use page"
        : "The page would end between two records with equal sort values and no key; use another per_page, or page",
    );
  }
  return {
    per_page: perPage,
    next_cursor: hasNext ? writeCursor(last!, list) : null,
    has_next: hasNext,
  };
}

/**
 * The failure of a statement that continues from a cursor. The cursor was checked as far as possible, but only the
 * database can read the values of many types. If it refuses one, the cursor was not made by the service.
 */
export function cursorFailure(error: unknown, { list, after }: CursorPage): unknown {
  if (!(error instanceof AppError) || after === null) return error;
  const isForeign = list.sort.some(({ column }) => columnTypes[column.type].isForeign);
  const mayBeRefusal = isForeign && error.kind === "internal" && !error.isOfData;
  const isRefused = refusals.has(error.kind) || mayBeRefusal;
  if (!isRefused) return error;
  return new AppError(
    "invalidParameter",
    "The cursor contains an invalid value; use the next_cursor of an answer",
    { cause: error },
  );
}

/** What the database's refusal of a value becomes. */
const refusals: ReadonlySet<ErrorKind> = new Set(["validationFailed", "invalidParameter"]);

const marks = new WeakMap<Column, Column>();

/** The column of marks of another one. One object per column: statements are cached by it. */
export function markOf(column: Column): Column {
  let mark = marks.get(column);
  if (mark === undefined) {
    const { nullable } = column;
    // Not the column's own name, which may be as long as the database allows.
    const name = `rowgate_mark_${hashOf(column.name)}`;
    mark = derivedColumn(name, "text", { nullable, markOf: column });
    marks.set(column, mark);
  }
  return mark;
}

const placeOf = (row: Row, sort: readonly Sort[]): Place =>
  sort.map(({ column }) => row[markOf(column).name] as string | null);

interface PlacedTerm {
  readonly mark: Column;
  readonly direction: Sort["direction"];
  readonly value: string | null;
}

const placed = ({ column, direction }: Sort, value: string | null): PlacedTerm => ({
  mark: markOf(column),
  direction,
  value,
});

/**
 * The rows after the place: further in the first term, or equal in it and after it in the others. The bound in front is
 * redundant, but an index can start at it.
 */
function isBehind(terms: readonly PlacedTerm[]): Condition {
  const [first, ...others] = terms as [PlacedTerm, ...PlacedTerm[]];
  const further = isFurther(first);
  if (others.length === 0) return further ?? noRow;
  const tied = allOf(equals(first.mark, first.value), isBehind(others))!;
  if (further === null) return tied;
  return allOf(boundOf(first), { kind: "or", members: [further, tied] })!;
}

/** Null if nothing can follow: nulls are the smallest. */
function isFurther({ mark, direction, value }: PlacedTerm): Condition | null {
  if (value === null)
    return direction === "asc" ? { kind: "null", column: mark, negated: true } : null;
  if (direction === "asc") return compares(mark, ">", value);
  const smaller = compares(mark, "<", value);
  if (!mark.nullable) return smaller;
  return { kind: "or", members: [smaller, { kind: "null", column: mark, negated: false }] };
}

/** Null if no single comparison holds for all further rows. */
function boundOf({ mark, direction, value }: PlacedTerm): Condition | null {
  if (value === null || (direction === "desc" && mark.nullable)) return null;
  return compares(mark, direction === "asc" ? ">=" : "<=", value);
}

const version = 1;

/** Rejects (Invalid parameter) a place that would make too long a cursor. */
function writeCursor(place: Place, list: CursorList): string {
  const bytes = new TextEncoder().encode(JSON.stringify([version, digestOf(list), place]));
  const cursor = toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  if (cursor.length <= limits.cursorLengthMax) return cursor;
  throw invalidParameter("The values of the sorted columns are too long for a cursor; use page");
}

function readCursor(cursor: string, list: CursorList): Place {
  const [madeBy, digest, place] = contentOf(cursor);
  if (madeBy !== version || typeof digest !== "string" || !isPlace(place)) throw noCursor();
  if (digest !== digestOf(list) || place.length !== list.sort.length) {
    throw invalidParameter(
      "The cursor belongs to a list with a different sort, where or search; start again with cursor: true",
    );
  }
  return place;
}

const noCursor = () =>
  invalidParameter("The cursor is not valid; use the next_cursor of an answer");

function contentOf(cursor: string): unknown[] {
  if (cursor.length > limits.cursorLengthMax || !/^[\w-]+$/.test(cursor)) throw noCursor();
  const bytes = fromBase64(cursor.replaceAll("-", "+").replaceAll("_", "/"));
  if (bytes === null) throw noCursor();
  try {
    const content: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (Array.isArray(content)) return content;
  } catch {
    // Neither text nor JSON.
  }
  throw noCursor();
}

const isPlace = (value: unknown): value is Place =>
  Array.isArray(value) &&
  value.every((mark) => mark === null || (typeof mark === "string" && mark.isWellFormed()));

/** Equal for equal lists: columns are compared by name, and a `where` by meaning. */
function digestOf({ name, sort, filter }: CursorList): string {
  const order = sort.map(({ column, direction }) => [column.name, direction]);
  return hashOf(JSON.stringify([name, order, filter], plainMember));
}

function plainMember(name: string, value: unknown): unknown {
  if (name === "column") return (value as Column).name;
  if (name === "steps")
    return (value as readonly Hop[]).map(({ endpoint, on }) => [
      endpoint,
      ...on.flatMap(({ left, right }) => [left.name, right.name]),
    ]);
  if (typeof value === "bigint") return `${value}n`;
  return value instanceof Uint8Array ? toBase64(value) : value;
}
