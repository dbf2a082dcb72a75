/** The page or limit that a list requests, and the `pagination` of an answer. */
import { absentOr, described, type Grammar, wholeNumber } from "../grammar/grammar.ts";
import type { RequestSettings } from "../plans/entity.ts";
import { invalidParameter } from "../values/errors.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import { closedObject } from "../values/json-shapes.ts";
import { limits } from "../values/limits.ts";
import type { RowCount } from "./count.ts";
import { type Listed, onlyPage } from "./order.ts";

/** `page` null: the list is not paginated, `size` is its limit. */
export interface Page {
  readonly page: number | null;
  /** Rows at most. */
  readonly size: number;
  readonly offset: number;
}

export type NumberedPage = Page & { readonly page: number };

/**
 * The number of rows before a page with a number. Rejects with Invalid parameter if it exceeds `offsetMax`, because a
 * database reads every one of them. `instead`: how to reach rows further on.
 */
export function offsetOf(
  { page, size }: { readonly page: number; readonly size: number },
  { offsetMax, instead }: { readonly offsetMax: number; readonly instead: string },
): number {
  const offset = (page - 1) * size;
  if (offset <= offsetMax) return offset;
  throw invalidParameter(`page lies beyond the first ${offsetMax} records; ${instead}`);
}

const numberUpTo = (name: string, max: number, fromText = false): Grammar<number> =>
  wholeNumber({ min: 1, max, fromText }, () =>
    invalidParameter(`${name} must be a whole number from 1 to ${max}`),
  );

/** Records of a page. */
export const perPage = described(
  absentOr(numberUpTo("per_page", limits.perPageMax), limits.perPageDefault),
  { default: limits.perPageDefault },
);

/** The maximum number of records of a list without pages; null if not requested. `fromText`: also as digits. */
export const listLimit = ({ fromText = false } = {}): Grammar<number | null> =>
  described(absentOr(numberUpTo("limit", limits.limitMax, fromText), null), {
    default: limits.limitDefault,
  });

/** The number of a page; null if not requested. `offsetOf` checks it, because the offset depends on the size. */
export const pageNumber = (
  listed: Listed,
  { offsetMax }: RequestSettings,
  { fromText = false } = {},
): Grammar<number | null> => ({
  ...absentOr(numberUpTo("page", Number.MAX_SAFE_INTEGER, fromText), null),
  // With larger pages the last one has a smaller number.
  schema: () =>
    onlyPage(listed) === null
      ? {
          ...numberSchema,
          maximum: Math.min(offsetMax + 1, Number.MAX_SAFE_INTEGER),
          description: `Pages before it may hold ${offsetMax} records.`,
        }
      : { const: 1 },
});

const numberSchema: JsonSchema = {
  type: "integer",
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
};

/** The query of a GET request, with the number of another page. */
export function queryOfPage(query: Readonly<Record<string, unknown>>, page: number): string {
  return new URLSearchParams(
    Object.entries({ ...query, page }).flatMap(([name, value]) => pairsOf(name, value)),
  ).toString();
}

/** Objects and lists are names with brackets: `where[city]=Graz`. */
const pairsOf = (name: string, value: unknown): [string, string][] =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([key, member]) => pairsOf(`${name}[${key}]`, member))
    : [[name, String(value)]];

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
 * The pagination of a page that was read with one row more than it shows. `found`: rows found from its first one on.
 * What was found overrides an estimate, so that the two never contradict each other.
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

/** A page that is not full ends the list. An empty one only shows that the list is not longer than the offset. */
function credibleTotal(estimate: number, { size, offset }: NumberedPage, found: number): number {
  const seen = offset + found;
  if (found > size) return Math.max(estimate, seen);
  return found > 0 ? seen : Math.min(estimate, seen);
}

const whole: JsonSchema = { type: "integer", minimum: 0 };
const truth: JsonSchema = { type: "boolean" };

/** The result of `paginationOf` and `lookAheadPagination`; without totals if rows are not counted. */
export const numberedPaginationSchema: JsonSchema = closedObject(
  {
    current_page: numberSchema,
    per_page: whole,
    total_records: whole,
    total_pages: whole,
    has_next: truth,
    has_previous: truth,
    count_mode: { enum: ["exact", "estimated"] },
  },
  ["current_page", "per_page", "has_next", "has_previous"],
);
