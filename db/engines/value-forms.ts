/**
 * How the values of one type travel to a database and back. Each engine has a record of these with one for every type (its
 * `value-forms.ts`), so that a new type of column does not compile before every engine has said what it does with it.
 */
import type { SQL } from "drizzle-orm/sql/sql";
import type { Column, ColumnType } from "../../core/values/column.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import type { Decimals } from "../../core/values/type-definition.ts";
import type { Decode, Dialect } from "../statements/dialect.ts";

export interface ValueForm {
  /** As `Dialect.bind`. */
  readonly bind: (column: Column, value: Exclude<Scalar, null>) => unknown;
  /** As `Dialect.output`. */
  readonly output: (column: Column, name: SQL, decimals: Decimals) => SQL;
  /** As `Dialect.decode`. */
  readonly decoder: (column: Column, decimals: Decimals) => Decode | null;
  /** As `Dialect.textOf`; null where the type has no text (`hasText` of its definition). */
  readonly textOf: ((column: Column, name: SQL) => SQL) | null;
}

export type ValueForms = Readonly<Record<ColumnType, ValueForm>>;

/** `bind` where the driver takes the text. */
export const bindText = (_column: Column, value: Exclude<Scalar, null>): string => String(value);

/** `output` and `textOf` of a column that is selected as it is. */
export const plainColumn = (_column: Column, name: SQL): SQL => name;

/** `decoder` where the driver gives what answers show. */
export const decodesNothing = (): null => null;

/** The four functions of a dialect that ask the column's type. */
export const valuesOf = (
  forms: ValueForms,
  decimals: Decimals,
): Pick<Dialect, "bind" | "output" | "decode" | "textOf"> => ({
  bind: (column, value) => forms[column.type].bind(column, value),
  output: (column, name) => forms[column.type].output(column, name, decimals),
  decode: (column) => forms[column.type].decoder(column, decimals),
  textOf: (column, name) => forms[column.type].textOf?.(column, name) ?? null,
});
