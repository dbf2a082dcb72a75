/** Numbers as parameters of MySQL and MariaDB, in types that compare them exactly. */
import mysql from "mysql2";
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Column } from "../../../core/values/column.ts";

const { LONGLONG } = mysql.TypedParameter;

/** Sent as the protocol's 64-bit integer. A number beyond that is beyond every column, and its digits compare right. */
export function wholeNumber(value: bigint): unknown {
  if (BigInt.asIntN(64, value) === value) return LONGLONG(value);
  return BigInt.asUintN(64, value) === value ? LONGLONG.unsigned(value) : String(value);
}

/** Holds every value of the column, with as many more digits behind the point as the server has (30, 65 in all). */
export function decimalType({ precision, scale }: Column): SQL {
  const whole = (precision ?? 35) - (scale ?? 0);
  return sql.raw(`decimal(65,${Math.min(30, 65 - whole)})`);
}
