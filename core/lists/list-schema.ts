/** What `select`, `sort_columns`, the search and the paging of a list take, and the `pagination` of its answer, as JSON Schemas. */
import type { Columns } from "../values/column.ts";
import { anyOf, closedObject } from "../values/json-shapes.ts";
import { type JsonSchema, orNull } from "../values/json-schema.ts";
import type { RequestSettings } from "../plans/entity.ts";
import { limits } from "../values/limits.ts";
import { countModes } from "./count.ts";
import { columnTypes } from "../values/column-types.ts";
import { nameSchema, patternSchema } from "./where-schema.ts";

/** Names of columns; an empty list, or null, stands for all of them. */
export const selectSchema = (columns: Columns): JsonSchema =>
  orNull({ type: "array", items: nameSchema(columns.values()) });

/** Terms of the order, or null. `names`: what the direction may be called, in one term by one of them. */
export function sortSchema(columns: Columns, names: readonly string[] = ["direction"]): JsonSchema {
  const sortable = [...columns].flatMap(([name, { type }]) =>
    columnTypes[type].isSorted ? [name] : [],
  );
  return sortTermsSchema({ enum: sortable }, names);
}

/** The same, where a schema says which names can be sorted by. */
export function sortTermsSchema(
  column: JsonSchema,
  names: readonly string[] = ["direction"],
): JsonSchema {
  const direction: JsonSchema = { enum: ["ASC", "DESC", "asc", "desc"], default: "ASC" };
  const terms = names.map((name) => closedObject({ column, [name]: direction }, ["column"]));
  return orNull({ type: "array", items: anyOf(terms) });
}

/** `search_value` and `search_by`. */
export const searchSchemas = (columns: Columns): Record<string, JsonSchema> => ({
  search_value: orNull(patternSchema),
  search_by: { enum: [...new Set(["all", ...namesOfTexts(columns)]), null], default: "all" },
});

/** Names of the columns that can be searched one by one. */
export const namesOfTexts = (columns: Columns): string[] =>
  [...columns].flatMap(([name, { type }]) => (columnTypes[type].fromMember === null ? [name] : []));

export const perPageSchema: JsonSchema = {
  type: "integer",
  minimum: 1,
  maximum: limits.perPageMax,
  default: limits.perPageDefault,
};

export const pageSchema: JsonSchema = {
  type: "integer",
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
};

/** The same in a request: with larger pages the last one has a smaller number. */
export const askedPageSchema = ({ offsetMax }: RequestSettings): JsonSchema => ({
  ...pageSchema,
  maximum: Math.min(offsetMax + 1, Number.MAX_SAFE_INTEGER),
  description: `Pages before it may hold ${offsetMax} records.`,
});

export const limitSchema: JsonSchema = {
  type: "integer",
  minimum: 1,
  maximum: limits.limitMax,
  default: limits.limitDefault,
};

export const countModeSchema: JsonSchema = { enum: [...countModes, null], default: "exact" };

const whole: JsonSchema = { type: "integer", minimum: 0 };
const truth: JsonSchema = { type: "boolean" };

/** As `paginationOf` and `lookAheadPagination` make it; without totals where nothing is counted. */
export const numberedPaginationSchema = closedObject(
  {
    current_page: pageSchema,
    per_page: whole,
    total_records: whole,
    total_pages: whole,
    has_next: truth,
    has_previous: truth,
    count_mode: { enum: ["exact", "estimated"] },
  },
  ["current_page", "per_page", "has_next", "has_previous"],
);

/** As `pageBehind` in `cursor.ts` makes it. */
export const cursorPaginationSchema = closedObject(
  { per_page: whole, next_cursor: { type: ["string", "null"] }, has_next: truth },
  ["per_page", "next_cursor", "has_next"],
);
