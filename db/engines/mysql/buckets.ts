/** Buckets on MySQL and MariaDB. The session is in UTC. */
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Bucket, DatePart, SpanUnit } from "../../../core/values/types/bucket.ts";
import type { Column } from "../../../core/values/types/column.ts";
import type { Offset } from "../../../core/values/time-zones.ts";
import { isExact } from "../../../core/values/types/arithmetic.ts";
import { byOffset, hourOffsets, textOfInstant } from "../by-offset.ts";
import { asDecimal, sizeOf } from "./decimals.ts";

export function bucketTerm(of: Column, term: SQL, bucket: Bucket): SQL {
  if (bucket.kind === "bin") return bin(of, term, bucket.width);
  if (bucket.kind === "span" && bucket.unit === "hour") return hour(term, bucket.offsets);
  const wall = inZone(term, bucket.offsets);
  return bucket.kind === "part" ? part(wall, bucket.part) : span(wall, bucket.unit);
}

function span(wall: SQL, unit: Exclude<SpanUnit, "hour"> | SpanUnit): SQL {
  switch (unit) {
    case "year":
      return sql`cast(date_format(${wall}, '%Y-01-01') as date)`;
    case "quarter":
      return sql`cast(date_format(${wall}, '%Y-%m-01') as date) - interval (month(${wall}) - 1) % 3 month`;
    case "month":
      return sql`cast(date_format(${wall}, '%Y-%m-01') as date)`;
    case "week":
      return sql`cast(${wall} as date) - interval weekday(${wall}) day`;
    default:
      return sql`cast(${wall} as date)`;
  }
}

function part(wall: SQL, name: DatePart): SQL {
  if (name === "weekday") return sql`weekday(${wall}) + 1`;
  return sql`${sql.raw(name)}(${wall})`;
}

const inZone = (term: SQL, offsets: readonly Offset[]): SQL =>
  offsets.length === 0
    ? term
    : sql`(${term} + interval ${byOffset(offsets, isBefore(term), ({ seconds }) => sql.raw(String(seconds)))} second)`;

const isBefore = (term: SQL) => (instant: number) => sql`${term} < ${moment(instant)}`;

const moment = (instant: number): SQL => sql.raw(`timestamp'${textOfInstant(instant)}'`);

function hour(term: SQL, offsets: readonly Offset[]): SQL {
  const needed = hourOffsets(offsets);
  if (needed.length === 0) return fullHour(term);
  return byOffset(needed, isBefore(term), ({ seconds, hourFrom }) => {
    const by = sql.raw(`interval ${seconds} second`);
    const start = sql`(${fullHour(sql`(${term} + ${by})`)} - ${by})`;
    return hourFrom === null ? start : sql`greatest(${start}, ${moment(hourFrom)})`;
  });
}

const fullHour = (term: SQL): SQL =>
  sql`cast(date_format(${term}, '%Y-%m-%d %H:00:00') as datetime)`;

function bin(of: Column, term: SQL, width: string): SQL {
  const by = sql.raw(width);
  const start = (number: SQL) => sql`(${number} - mod(mod(${number}, ${by}) + ${by}, ${by}))`;
  if (isExact(of)) return start(asDecimal(term, sizeOf(of)));
  // 0.3 divided by 0.1 is less than 3, so the digits count, of all numbers whose digits a decimal holds.
  const exact = start(asDecimal(digitsOf(of, term), { precision: 65, scale: 30 }));
  return sql`if(abs(${term}) < 1e34, ${exact} + 0e0, floor(${term} / ${by}e0) * ${by}e0)`;
}

/** The text of a floating point number. That of a FLOAT has six digits, so one with more is shown as a double. */
function digitsOf({ isSingle }: Column, term: SQL): SQL {
  const text = sql`cast(${term} as char)`;
  return isSingle
    ? sql`if(abs(${text} + 0e0 - ${term}) <= abs(${term}) * 6e-8, ${text}, cast(${term} + 0e0 as char))`
    : text;
}
