/**
 * The value that a computed column gets with the INSERT. The database computes it again once the row is stored, but
 * checks and NOT NULL apply to the row as inserted.
 */
import { compute, formulaFaults } from "../query/formula.ts";
import type { LinesTable } from "../plans/document-tables.ts";
import type { Computation, Insert } from "../query/statement.ts";
import { arithmeticOf } from "../values/types/arithmetic.ts";
import type { Column } from "../values/types/column.ts";
import { validationFailed } from "../values/errors.ts";
import type { Scalar } from "../values/scalar.ts";

/** `value` undefined: it is left to the database. */
export type Foreseen =
  | { readonly ok: true; readonly value: Scalar | undefined }
  | { readonly ok: false; readonly message: string };

/**
 * `valueOf`: the row's value for a column; undefined = none. If the database fills an operand, the result is left to
 * the database, or is 0 if the INSERT must contain a value.
 */
export function foresee(
  { column, formula, operands }: Computation,
  valueOf: (name: string) => Scalar | undefined,
): Foreseen {
  const { fromDigits } = arithmeticOf(column);
  const isUnknown = (one: Column): boolean =>
    valueOf(one.name) === undefined &&
    (one.hasDefault || one.generated !== "none" || one.isFilledByTrigger === true);
  if (operands.some(isUnknown))
    return { ok: true, value: isDemanded(column) ? fromDigits("0") : undefined };
  const result = compute(formula, column, (name) => {
    const value = valueOf(name) ?? null;
    return value === null ? null : String(value);
  });
  if (!result.ok) return { ok: false, message: formulaFaults[result.fault] };
  return { ok: true, value: result.value === null ? null : fromDigits(result.value) };
}

/** The rows with the values of their computed columns. Rejects with `validationFailed` if one cannot be computed. */
export function withForeseen<Statement extends Insert>(
  insert: Statement,
  { computed }: LinesTable,
): Statement {
  let { columns, rows } = insert;
  for (const computation of computed) {
    const { name } = computation.column;
    const own = columns.findIndex((column) => column.name === name);
    const values = rows.map((row) => {
      const foreseen = foresee(computation, (operand) => {
        const at = columns.findIndex((column) => column.name === operand);
        return at < 0 ? undefined : (row[at] ?? null);
      });
      if (!foreseen.ok) throw validationFailed({ [name]: [foreseen.message] });
      return foreseen.value;
    });
    if (values.includes(undefined)) continue;
    columns = own < 0 ? [...columns, computation.column] : columns;
    rows = rows.map((row, at) => (own < 0 ? [...row, values[at]!] : row.with(own, values[at]!)));
  }
  return { ...insert, columns, rows };
}

/** Whether an INSERT must contain a value. */
export const isDemanded = (column: Column): boolean => !column.nullable && !column.hasDefault;
