/**
 * How the values of one type are sent to a database and read back. Each engine has a record with one entry per type
 * (its `value-forms.ts`), so that a new column type does not compile before every engine handles it.
 */
import type { SQL } from "drizzle-orm/sql/sql";
import type { Column, ColumnType } from "../../core/values/types/column.ts";
import type { Json } from "../../core/values/json.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import type { Decimals } from "../../core/values/types/type-definition.ts";
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

/** `output` and `textOf` of a column that is selected as it is. */
export const plainColumn = (_column: Column, name: SQL): SQL => name;

/** Sent as text, and returned as answers show it. */
export const textForm = {
  bind: (_column, value) => String(value),
  output: plainColumn,
  decoder: () => null,
} satisfies Partial<ValueForm>;

/** `decoder` for values that the driver returns as text. */
export const showing =
  (show: (text: string) => Json): ValueForm["decoder"] =>
  () =>
  (raw) =>
    show(raw as string);

/** Each form by its differences from `plain`. */
export const formsBeside = (
  plain: ValueForm,
  own: Readonly<Record<ColumnType, Partial<ValueForm>>>,
): ValueForms =>
  Object.fromEntries(
    Object.entries(own).map(([type, form]) => [type, { ...plain, ...form }]),
  ) as unknown as ValueForms;

/** The four functions of a dialect that depend on the column's type. */
export const valuesOf = (
  forms: ValueForms,
  decimals: Decimals,
): Pick<Dialect, "bind" | "output" | "decode" | "textOf"> => ({
  bind: (column, value) => forms[column.type].bind(column, value),
  output: (column, name) => forms[column.type].output(column, name, decimals),
  decode: (column) => forms[column.type].decoder(column, decimals),
  textOf: (column, name) => forms[column.type].textOf?.(column, name) ?? null,
});
