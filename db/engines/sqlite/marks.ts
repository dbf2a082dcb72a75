/**
 * Positions of rows in an order, as SQLite compares them. A column can hold values of all storage classes, and values
 * sort by class first, so a mark begins with the class: `i12`, `n1.5`, `ttext`, `bFFEE`.
 */
import { Buffer } from "node:buffer";
import { sql } from "drizzle-orm/sql/sql";
import type { Marks } from "../../statements/dialect.ts";
import { sortedTerm } from "./forms/by-value.ts";
import type { StoredForms } from "./forms/stored-forms.ts";
import { isExactDecimal } from "./types.ts";

export const createMarks = (forms: StoredForms): Marks => ({
  term: (column, name) =>
    isExactDecimal(column) ? sql`rowgate_decimal_key(${name})` : sortedTerm(forms, column, name),
  // As text, a floating point number may lose digits; the driver gives it whole.
  output: (_column, term) =>
    sql`case typeof(${term}) when 'integer' then 'i' || ${term} when 'text' then 't' || ${term} when 'blob' then 'b' || hex(${term}) else ${term} end`,
  decode: (raw) => (typeof raw === "number" ? `n${raw}` : String(raw)),
  param: (_column, placeholder) => placeholder,
  bind(_column, mark) {
    const rest = mark.slice(1);
    switch (mark[0]) {
      case "i":
        return integerOf(rest);
      case "n":
        return String(Number(rest)) === rest && rest !== "NaN" ? Number(rest) : undefined;
      case "t":
        return rest;
      case "b":
        return /^(?:[\dA-F]{2})*$/.test(rest) ? Buffer.from(rest, "hex") : undefined;
      default:
        return undefined;
    }
  },
});

function integerOf(digits: string): bigint | undefined {
  if (!/^-?\d{1,19}$/.test(digits)) return undefined;
  const integer = BigInt(digits);
  return BigInt.asIntN(64, integer) === integer ? integer : undefined;
}
