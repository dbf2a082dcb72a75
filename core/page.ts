/** The page or the limit that a list asks for, and the `pagination` that an answer carries. */
import { invalidParameter } from "./errors.ts";
import { limits } from "./limits.ts";

/** `page` null: the list is not paginated, `size` is its limit. */
export interface Page {
  readonly page: number | null;
  /** Rows at most. */
  readonly size: number;
  readonly offset: number;
}

/** Both numbers are checked whenever they are there, also the one that the mode does not use. */
export function parsePage(body: Record<string, unknown>): Page {
  const page = wholeNumber(body, "page", { min: 1, max: Number.MAX_SAFE_INTEGER });
  const perPage = wholeNumber(body, "per_page", { min: 1, max: limits.perPageMax });
  const limit = wholeNumber(body, "limit", { min: 1, max: limits.limitMax });
  if (page === null) return { page, size: limit ?? limits.limitDefault, offset: 0 };
  const size = perPage ?? limits.perPageDefault;
  // No table has more rows than this; beyond it the product would no longer be a whole number of JavaScript's.
  return { page, size, offset: Math.min((page - 1) * size, Number.MAX_SAFE_INTEGER) };
}

export function paginationOf(
  page: number,
  perPage: number,
  totalRecords: number,
): Record<string, number | boolean> {
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
