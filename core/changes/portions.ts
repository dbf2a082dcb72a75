/** Rows of the service's own tables, split into statements that every database takes. */
import { limits } from "../values/limits.ts";
import { type Scalar, lengthOf } from "../values/scalar.ts";

type Rows = readonly (readonly Scalar[])[];

/**
 * The rows in their order, `limits.changesAtOnce` in a portion at most. Portions are also limited in size, because
 * MySQL and MariaDB refuse larger statements (`max_allowed_packet`); only a single row may exceed that.
 */
export function portionsOf(rows: Rows): Rows[] {
  const portions: (readonly Scalar[])[][] = [];
  let length = 0;
  for (const row of rows) {
    const own = lengthOf(row);
    const last = portions.at(-1);
    const isFull = length + own > limits.statementLengthMax;
    if (last === undefined || isFull || last.length === limits.changesAtOnce) {
      portions.push([row]);
      length = own;
    } else {
      last.push(row);
      length += own;
    }
  }
  return portions;
}
