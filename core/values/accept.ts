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

/** The value of a JSON document (numbers may be `ExactNumber`s) for this column. Null is accepted: whether it may be stored is for the rules. */
export function accept(column: Column, value: unknown): Accepted {
  return value === null ? acceptedNull : columnTypes[column.type].accept(column, value);
}

const withoutLimits = new WeakMap<Column, Column>();

/** Whole numbers that some engine's column can hold: beyond them nothing is worth comparing. */
const comparedRange = { min: -(2n ** 63n), max: 2n ** 64n - 1n };

/** The column as comparisons see it: `price > 10.555` is a fair question to a column with two decimals. */
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
      isSingle: false,
      fractionDigits: 6,
    };
    const { element } = column;
    // What an element's range leaves out, the database cannot be asked for.
    const inner = element && { element: { ...unlimited(element), range: element.range } };
    // A condition asks for a number, however it is written.
    const free = column.notation === "numberLike" && { notation: "anything" as const };
    wide = { ...column, ...fits, ...inner, ...free };
    withoutLimits.set(column, wide);
  }
  return wide;
}
