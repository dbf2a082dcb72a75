/**
 * How the values of one type travel to a database and back. Each engine has a record of these with one for every type (its
 * `value-forms.ts`), so that a new type of column does not compile before every engine has said what it does with it.
 */
import type { SQL } from "drizzle-orm/sql/sql";
import type { Column, ColumnType } from "../../core/values/column.ts";
import type { Json } from "../../core/values/json.ts";
import type { JsonWriter } from "../statements/json-writer.ts";
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
  /**
   * Writes values of the usual form at little cost; false: the value has another form, and nothing was written. Absent or null: every value
   * is decoded, and written as what it is then.
   */
  readonly writer?: (column: Column, decimals: Decimals) => WriteUsual | null;
  /** As `Dialect.textOf`; null where the type has no text (`hasText` of its definition). */
  readonly textOf: ((column: Column, name: SQL) => SQL) | null;
}

export type WriteUsual = (writer: JsonWriter, raw: unknown) => boolean;

export type ValueForms = Readonly<Record<ColumnType, ValueForm>>;

/** `bind` where the driver takes the text. */
export const bindText = (_column: Column, value: Exclude<Scalar, null>): string => String(value);

/** `output` and `textOf` of a column that is selected as it is. */
export const plainColumn = (_column: Column, name: SQL): SQL => name;

/** `decoder` where the driver gives what answers show. */
export const decodesNothing = (): null => null;

/** The functions of a dialect that ask the column's type. `received`: as in `Dialect`. */
export const valuesOf = (
  forms: ValueForms,
  decimals: Decimals,
  received: NonNullable<Dialect["received"]> = (_column, raw) => raw,
): Pick<Dialect, "bind" | "output" | "decode" | "write" | "received" | "textOf"> => ({
  bind: (column, value) => forms[column.type].bind(column, value),
  output: (column, name) => forms[column.type].output(column, name, decimals),
  decode: (column) => forms[column.type].decoder(column, decimals),
  write(column) {
    const form = forms[column.type];
    const decode = form.decoder(column, decimals) ?? ((raw) => raw as Json);
    const writeUsual = form.writer?.(column, decimals) ?? (() => false);
    return (writer, raw) => {
      if (!writeUsual(writer, raw)) writer.json(decode(received(column, raw)));
    };
  },
  received,
  textOf: (column, name) => forms[column.type].textOf?.(column, name) ?? null,
});
