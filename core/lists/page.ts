/** The page or the limit that a list asks for, and the `pagination` that an answer carries. */
import type { RowCount } from "./count.ts";
import { invalidParameter } from "../values/errors.ts";
import { limits } from "../values/limits.ts";

/** `page` null: the list is not paginated, `size` is its limit. */
export interface Page {
  readonly page: number | null;
  /** Rows at most. */
  readonly size: number;
  readonly offset: number;
}

/** Rows of a page whose number is not asked for. Rejects with Invalid parameter. */
export const parsePerPage = (body: Record<string, unknown>): number =>
  wholeNumber(body, "per_page", { min: 1, max: limits.perPageMax }) ?? limits.perPageDefault;

export type NumberedPage = Page & { readonly page: number };

/**
 * The rows before a page with a number. Rejects with Invalid parameter where they are more than `offsetMax`: a database walks through each of
 * them. `instead`: how to get at what lies further.
 */
export function offsetOf(
  { page, size }: { readonly page: number; readonly size: number },
  { offsetMax, instead }: { readonly offsetMax: number; readonly instead: string },
): number {
  const offset = (page - 1) * size;
  if (offset <= offsetMax) return offset;
  throw invalidParameter(`page lies beyond the first ${offsetMax} records; ${instead}`);
}

/** Both numbers are checked whenever they are there, also the one that the mode does not use. */
export function parsePage(body: Record<string, unknown>, offsetMax: number): Page {
  const page = wholeNumber(body, "page", { min: 1, max: Number.MAX_SAFE_INTEGER });
  const perPage = parsePerPage(body);
  const limit = wholeNumber(body, "limit", { min: 1, max: limits.limitMax });
  if (page === null) return { page, size: limit ?? limits.limitDefault, offset: 0 };
  const instead = "page with a cursor instead (cursor: true), or narrow the list with where";
  const offset = offsetOf({ page, size: perPage }, { offsetMax, instead });
  return { page, size: perPage, offset };
}

export type Pagination = Record<string, number | boolean | string | null>;

export function paginationOf(page: number, perPage: number, totalRecords: number): Pagination {
  const totalPages = Math.ceil(totalRecords / perPage);
  return {
    current_page: page,
    per_page: perPage,
    total_records: totalRecords,
    total_pages: totalPages,
    has_next: page < totalPages,
    has_previous: page > 1,
  };
}

/**
 * The pagination of a page that was read with one row more than it shows: `found` rows were there from its first one on. What was
 * seen overrules an estimate, so that the two never contradict each other.
 */
export function lookAheadPagination(
  page: NumberedPage,
  found: number,
  count: RowCount,
): Pagination {
  const { page: current, size } = page;
  if (count.total === null) {
    const hasNext = found > size;
    return { current_page: current, per_page: size, has_next: hasNext, has_previous: current > 1 };
  }
  const total = credibleTotal(count.total, page, found);
  const countMode = count.isEstimate ? "estimated" : "exact";
  return { ...paginationOf(current, size, total), count_mode: countMode };
}

/** A page that is not full ends the list; an empty one says only that the list is no longer than what lies before it. */
function credibleTotal(estimate: number, { size, offset }: NumberedPage, found: number): number {
  const seen = offset + found;
  if (found > size) return Math.max(estimate, seen);
  return found > 0 ? seen : Math.min(estimate, seen);
}

/** The number that a whole number is, or that a text of digits stands for, as forms and queries send them; else null. */
export function readWholeNumber(value: unknown): number | null {
  const number = typeof value === "string" && /^-?\d{1,16}$/.test(value) ? Number(value) : value;
  // Adding 0 turns -0 into 0.
  return typeof number === "number" && Number.isInteger(number) ? number + 0 : null;
}

/** The body's number of that name; null when it is absent. Rejects with Invalid parameter. */
function wholeNumber(
  body: Record<string, unknown>,
  name: string,
  range: { min: number; max: number },
): number | null {
  const value = body[name];
  if (value === undefined) return null;
  if (
    typeof value === "number" &&
    Number.isInteger(value) &&
    value >= range.min &&
    value <= range.max
  )
    return value;
  throw invalidParameter(`${name} must be a whole number from ${range.min} to ${range.max}`);
}
