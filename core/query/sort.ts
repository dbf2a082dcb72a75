/** The client's `sort_columns`: the beginning of a list's order. `core/lists/order.ts` makes it total. */
import {
  absentOr,
  type Grammar,
  list,
  meaning,
  object,
  optional,
  text,
  value,
} from "../grammar/grammar.ts";
import type { Column, Columns } from "../values/types/column.ts";
import { columnTypes } from "../values/types/column-types.ts";
import { invalidParameter } from "../values/errors.ts";
import { anyOf, closedObject } from "../values/json-shapes.ts";
import { type JsonSchema, orNull } from "../values/json-schema.ts";
import { columnOf } from "./comparisons.ts";
import { describedColumns } from "./paths.ts";
import type { Sort } from "./statement.ts";

const faultOf = (terms: string) => () =>
  invalidParameter(`sort_columns must be an array of ${terms} of "ASC" or "DESC"`);

const faults = {
  direction: faultOf("{column, direction} with a direction"),
  "direction or order": faultOf("{column, order} with an order"),
};

const directionSchema: JsonSchema = { enum: ["ASC", "DESC", "asc", "desc"], default: "ASC" };

/** One term; `names`: of its direction. */
function termOf(names: keyof typeof faults): Grammar<SentTerm> {
  const fault = faults[names];
  const direction = absentOr(
    value(
      (sent): sent is string => typeof sent === "string" && /^(asc|desc)$/i.test(sent),
      fault,
      () => directionSchema,
    ),
    null,
  );
  const order = names === "direction" ? {} : { order: direction };
  return object({ column: text(fault), direction, ...order }, { fault });
}

/**
 * `[{column, direction?}]`, ascending by default. If a column is named twice, the first one counts. `names`: how
 * requests spell the direction. Rejects with Invalid parameter (shape, direction, a column without an order) or Invalid
 * field (unknown column).
 */
export function sortColumns(
  columns: Columns,
  names: keyof typeof faults = "direction",
): Grammar<Sort[]> {
  const term = termOf(names);
  return optional(
    meaning(
      list(
        meaning(term, (sent) => sortOf(sent, columns)),
        { fault: faults[names] },
      ),
      firstMentions,
    ),
    [],
    () => sortTermsSchema({ enum: sortableNames(columns) }, names.split(" or ")),
  );
}

interface SentTerm {
  readonly column: string;
  readonly direction: string | null;
  readonly order?: string | null;
}

function sortOf({ column: name, direction: towards, order }: SentTerm, columns: Columns): Sort {
  const column = columnOf(name, columns, "sort_columns");
  if (!columnTypes[column.type].isSorted)
    throw invalidParameter(`Column "${name}" cannot be sorted`);
  return { column, direction: (towards ?? order ?? "asc").toLowerCase() as Sort["direction"] };
}

/** A second mention of a column could not change the order. */
function firstMentions(sort: readonly Sort[]): Sort[] {
  const first = new Map<Column, Sort>();
  for (const term of sort) if (!first.has(term.column)) first.set(term.column, term);
  return [...first.values()];
}

const sortableNames = (columns: Columns): string[] =>
  [...describedColumns(columns)].flatMap(([name, { type }]) =>
    columnTypes[type].isSorted ? [name] : [],
  );

/** Terms of an order, or null. `column`: the schema of the names. */
export function sortTermsSchema(
  column: JsonSchema,
  names: readonly string[] = ["direction"],
): JsonSchema {
  const branches = names.map((name) =>
    closedObject({ column, [name]: directionSchema }, ["column"]),
  );
  return orNull({ type: "array", items: anyOf(branches) });
}
