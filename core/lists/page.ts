/** The page or limit that a list requests, and the `pagination` of an answer. */
import {
  absentOr,
  described,
  type Grammar,
  type MakeError,
  wholeNumber,
} from "../grammar/grammar.ts";
import type { RequestSettings } from "../plans/entity.ts";
import type { ReadQueries } from "../query/session.ts";
import type { Select } from "../query/statement.ts";
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

/** Where a page begins. */
export interface PageBeginning {
  /** Rows before it. */
  readonly offset: number;
  /** Null: it lies within the first rows, which every list may show. */
  readonly tooFar: TooFar | null;
}

export interface TooFar {
  readonly offsetMax: number;
  /** The error if the list goes on behind `offsetMax` rows. */
  readonly fault: MakeError;
}

export const beginningAt = (offset: number, { offsetMax, fault }: TooFar): PageBeginning => ({
  // Databases take no number beyond.
  offset: Math.min(offset, Number.MAX_SAFE_INTEGER),
  tooFar: offset > offsetMax ? { offsetMax, fault } : null,
});

/** The beginning of a page with a number. `instead`: how to reach rows further on. */
export const beginningOf = (
  { page, size }: { readonly page: number; readonly size: number },
  { offsetMax, instead }: { readonly offsetMax: number; readonly instead: string },
): PageBeginning =>
  beginningAt((page - 1) * size, {
    offsetMax,
    fault: () => invalidParameter(`page lies beyond the first ${offsetMax} records; ${instead}`),
  });

/**
 * Rejects a page that lies too far in a list that goes on there, because a database reads every row before it. If the
 * list has ended, the page is empty.
 */
export async function mustHaveEnded(
  queries: ReadQueries,
  list: Select,
  tooFar: TooFar | null,
): Promise<void> {
  if (tooFar === null) return;
  const columns = list.columns.slice(0, 1);
  const beyond = { ...list, columns, sort: [], limit: 1, offset: tooFar.offsetMax };
  if ((await queries.one(beyond)) !== null) throw tooFar.fault();
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

/** The number of a page; null if not requested. `mustHaveEnded` checks it if it lies far. */
export const pageNumber = (
  listed: Listed,
  { offsetMax }: RequestSettings,
  { fromText = false } = {},
): Grammar<number | null> => ({
  ...absentOr(numberUpTo("page", Number.MAX_SAFE_INTEGER, fromText), null),
  schema: () =>
    onlyPage(listed) === null
      ? {
          ...numberSchema,
          description: `A page with records beyond the first ${offsetMax} is refused.`,
        }
      : { const: 1 },
});

const numberSchema: JsonSchema = { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER };

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
