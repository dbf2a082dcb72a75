/**
 * Converts JSON into the form of a value in statements (see `Scalar`), which is the same for every database, or says
 * why it is refused: a value that a column cannot store exactly is refused, never changed. The functions for the
 * opposite direction are next to the types (`showInteger`, `showDate` …); the engines in `db/` use them to decode
 * values of their drivers.
 */
import type { Column } from "./column.ts";
import { columnTypes } from "./column-types.ts";
import { type Accepted, accepted } from "./type-definition.ts";

const acceptedNull: Accepted = accepted(null);

/**
 * The value of a JSON document (numbers may be `ExactNumber`s) for this column. Null is accepted: the rules decide
 * whether it may be stored.
 */
export const accept = (column: Column, value: unknown): Accepted =>
  value === null ? acceptedNull : columnTypes[column.type].accept(column, value);

const withoutLimits = new WeakMap<Column, Column>();

/** Whole numbers that some engine's column can hold. Comparing with a number beyond them makes no sense. */
const comparedRange = { min: -(2n ** 63n), max: 2n ** 64n - 1n };

/** The column as comparisons see it: a column with two decimals may be compared with `price > 10.555`. */
export function unlimited(column: Column): Column {
  let wide = withoutLimits.get(column);
  if (!wide) {
    const fits = {
      lengthMax: null,
      bytesMax: null,
      fixedLength: false,
      precision: null,
      scale: null,
      range: column.range && comparedRange,
      wholeRange: null,
      isSingle: false,
      fractionDigits: 6,
    };
    const { element } = column;
    // The database cannot compare with an element outside its range.
    const inner = element && { element: { ...unlimited(element), range: element.range } };
    // A condition may write a number in any form.
    const free = column.notation === "numberLike" && { notation: "anything" as const };
    wide = { ...column, ...fits, ...inner, ...free };
    withoutLimits.set(column, wide);
  }
  return wide;
}
