/** Decimals of MySQL and MariaDB, which have a size of their own in every expression. */
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Column } from "../../../core/values/types/column.ts";

export interface DecimalSize {
  readonly precision: number;
  readonly scale: number;
}

export const asDecimal = (term: SQL, { precision, scale }: DecimalSize): SQL =>
  sql`cast(${term} as ${sql.raw(`decimal(${precision},${scale})`)})`;

export function decimalSize(digits: string): DecimalSize {
  const [whole = "", fraction = ""] = digits.split(".");
  return { precision: whole.length + fraction.length, scale: fraction.length };
}

/** Holds every value of a column of numbers. */
export const sizeOf = ({ range, precision, scale }: Column): DecimalSize =>
  range === null
    ? { precision: precision ?? 65, scale: scale ?? 0 }
    : { precision: String(range.max).length, scale: 0 };
