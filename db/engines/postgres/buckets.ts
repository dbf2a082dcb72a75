/** Buckets on PostgreSQL. The session is in UTC. */
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Bucket, DatePart } from "../../../core/values/types/bucket.ts";
import type { Column } from "../../../core/values/types/column.ts";
import type { Offset } from "../../../core/values/time-zones.ts";
import { isExact } from "../../../core/values/types/arithmetic.ts";
import { byOffset, hourOffsets, textOfInstant } from "../by-offset.ts";
import { baseTerm, castType } from "./types.ts";

export function bucketTerm(of: Column, name: SQL, bucket: Bucket): SQL {
  const term = baseTerm(of, name);
  if (bucket.kind === "bin") return bin(of, term, bucket.width);
  const time = of.type === "date" ? sql`${term}::timestamp` : term;
  if (bucket.kind === "span" && bucket.unit === "hour") return hour(of, time, bucket.offsets);
  const wall = inZone(of, time, bucket.offsets);
  if (bucket.kind === "part")
    return sql`extract(${sql.raw(partNames[bucket.part])} from ${wall})::int`;
  return finite(sql`date_trunc('${sql.raw(bucket.unit)}', ${wall})::date`);
}

const partNames: Readonly<Record<DatePart, string>> = {
  month: "month",
  weekday: "isodow",
  day: "day",
  hour: "hour",
};

/** Infinity is in no bucket. */
const finite = (term: SQL): SQL => sql`nullif(nullif(${term}, 'infinity'), '-infinity')`;

const inZone = (of: Column, time: SQL, offsets: readonly Offset[]): SQL =>
  offsets.length === 0
    ? time
    : sql`(${time} + ${byOffset(offsets, isBefore(of, time), ({ seconds }) => interval(seconds))})`;

const isBefore = (of: Column, time: SQL) => (instant: number) =>
  sql`${time} < ${moment(instant)}::${sql.raw(castType(of))}`;

const moment = (instant: number): SQL => sql.raw(`'${textOfInstant(instant)}Z'`);

const interval = (seconds: number): SQL => sql.raw(`interval '${seconds} seconds'`);

function hour(of: Column, time: SQL, offsets: readonly Offset[]): SQL {
  const needed = hourOffsets(offsets);
  if (needed.length === 0) return finite(sql`date_trunc('hour', ${time})::timestamptz`);
  return finite(
    byOffset(needed, isBefore(of, time), ({ seconds, hourFrom }) => {
      const by = interval(seconds);
      const start = sql`(date_trunc('hour', ${time} + ${by}) - ${by})::timestamptz`;
      if (hourFrom === null) return start;
      const from = sql`${moment(hourFrom)}::timestamptz`;
      // greatest() ignores nulls.
      return sql`case when ${start} < ${from} then ${from} else ${start} end`;
    }),
  );
}

function bin(of: Column, term: SQL, width: string): SQL {
  const by = sql.raw(`${width}::numeric`);
  const start = (number: SQL) => sql`${number} - mod(mod(${number}, ${by}) + ${by}, ${by})`;
  if (isExact(of)) return sql`nullif(${start(sql`${term}::numeric`)}, 'NaN')`;
  // 0.3 divided by 0.1 is less than 3, so the digits count. NaN is more than infinity.
  const digits = start(sql`${term}::text::numeric`);
  return sql`case when abs(${term}::double precision) < 'infinity' then (${digits})::double precision end`;
}
