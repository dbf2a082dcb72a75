/** Numbers as parameters of MySQL and MariaDB, in types that compare them exactly. */
import mysql from "mysql2";
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Column } from "../../../core/values/types/column.ts";

const { LONGLONG } = mysql.TypedParameter;

/**
 * A bigint is sent as the protocol's 64-bit integer. A larger number is beyond every column, and its digits compare
 * correctly.
 */
export const wholeNumber = (value: bigint): bigint | string =>
  BigInt.asIntN(64, value) === value || BigInt.asUintN(64, value) === value
    ? value
    : decimalDigits(String(value));

/** For the driver, which would send a bigint as text. */
export const typedParams = (params: readonly unknown[]): unknown[] =>
  params.map((value) => {
    if (typeof value !== "bigint") return value;
    return value === BigInt.asIntN(64, value) ? LONGLONG(value) : LONGLONG.unsigned(value);
  });

/** Digits before the point of the server's longest decimal. */
const wholeDigitsMax = 65;

/**
 * Canonical digits that the server reads as the same number. It drops the end of very long ones (-1e308 then compares
 * as greater than every column), so a number beyond all decimals becomes one just beyond them.
 */
export function decimalDigits(digits: string): string {
  const sign = digits.startsWith("-") ? "-" : "";
  const point = digits.indexOf(".");
  const wholeDigits = (point === -1 ? digits.length : point) - sign.length;
  return wholeDigits > wholeDigitsMax ? `${sign}1${"0".repeat(wholeDigitsMax)}` : digits;
}

/** Holds every value of the column, with as many more decimal places as the server allows (30; 65 digits in all). */
export function decimalType({ precision, scale }: Column): SQL {
  const whole = (precision ?? 35) - (scale ?? 0);
  return sql.raw(`decimal(65,${Math.min(30, 65 - whole)})`);
}
