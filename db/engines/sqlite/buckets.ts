/** Buckets on SQLite, of dates and timestamps in each form in which a column stores them. */
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Bucket, DatePart, SpanUnit } from "../../../core/values/types/bucket.ts";
import type { Column } from "../../../core/values/types/column.ts";
import type { Offset } from "../../../core/values/time-zones.ts";
import { isExact } from "../../../core/values/types/arithmetic.ts";
import { byOffset, hourOffsets, textOfInstant } from "../by-offset.ts";
import { comparedTerm } from "./forms/by-value.ts";
import type { StoredForms } from "./forms/stored-forms.ts";

export function bucketTerm(forms: StoredForms, of: Column, term: SQL, bucket: Bucket): SQL {
  if (bucket.kind === "bin") {
    const name = isExact(of) ? "rowgate_bin" : "rowgate_float_bin";
    return sql`${sql.raw(name)}(${term}, '${sql.raw(bucket.width)}', ${sql.raw(String(of.isSampled ? -1 : (of.scale ?? -1)))})`;
  }
  const time = timeOf(forms, of, term);
  if (bucket.kind === "span" && bucket.unit === "hour") return hour(time, bucket.offsets);
  const wall = inZone(time, bucket.offsets);
  if (bucket.kind === "part") return part(wall, bucket.part);
  if (bucket.offsets.length === 0 || !monthly.has(bucket.unit)) return span(wall, bucket.unit);
  // No zone moves these days into another month, and computing with times takes as long as all else together.
  const isInside = sql`substr(${time.text}, 9, 2) between '02' and '27'`;
  return sql`case when ${isInside} then ${span(time.text, bucket.unit)} else ${span(wall, bucket.unit)} end`;
}

const monthly: ReadonlySet<SpanUnit> = new Set(["year", "quarter", "month"]);

/** A column of times. */
interface Time {
  /** As a text that begins as `2026-10-31 08:15:00` or `2026-10-31`. */
  readonly text: SQL;
  readonly isBefore: (instant: number) => SQL;
}

function timeOf(forms: StoredForms, of: Column, term: SQL): Time {
  const isDate = of.type === "date";
  const form = forms.of(of, isDate ? "date" : "timestamp");
  const compared = comparedTerm(forms, of, term);
  const iso = (instant: number): string => new Date(instant * 1_000).toISOString();
  if (!form.isUniform)
    return {
      text: compared,
      isBefore: (instant) => sql`${compared} < '${sql.raw(iso(instant).slice(0, -1))}'`,
    };
  const isBefore = (instant: number): SQL => {
    const bound = form.bind(iso(instant));
    return sql`${term} < ${sql.raw(typeof bound === "string" ? `'${bound}'` : String(bound))}`;
  };
  if (form.unit === "size") return { text: term, isBefore };
  const seconds = form.unit === "ms" ? sql`${term} / 1000.0` : term;
  return { text: sql`datetime(${seconds}, 'unixepoch')`, isBefore };
}

/** Without a fraction, which SQLite would round. */
const whole = (text: SQL): SQL => sql`substr(${text}, 1, 19)`;

function inZone(time: Time, offsets: readonly Offset[]): SQL {
  if (offsets.length === 0) return time.text;
  const shift = byOffset(offsets, time.isBefore, ({ seconds }) => modifier(seconds));
  return sql`datetime(${whole(time.text)}, ${shift})`;
}

const modifier = (seconds: number): SQL => sql.raw(`'${seconds} seconds'`);

/** Parts of the text are read much faster than SQLite computes with it. */
function span(wall: SQL, unit: SpanUnit): SQL {
  switch (unit) {
    case "year":
      return sql`(substr(${wall}, 1, 4) || '-01-01')`;
    case "quarter":
      return sql`(substr(${wall}, 1, 4) || case when substr(${wall}, 6, 2) < '04' then '-01-01' when substr(${wall}, 6, 2) < '07' then '-04-01' when substr(${wall}, 6, 2) < '10' then '-07-01' else '-10-01' end)`;
    case "month":
      return sql`(substr(${wall}, 1, 7) || '-01')`;
    case "week":
      return sql`date(substr(${wall}, 1, 10), 'weekday 0', '-6 days')`;
    default:
      return sql`substr(${wall}, 1, 10)`;
  }
}

function part(wall: SQL, name: DatePart): SQL {
  switch (name) {
    case "weekday":
      return sql`((cast(strftime('%w', substr(${wall}, 1, 10)) as integer) + 6) % 7 + 1)`;
    case "month":
      return sql`cast(substr(${wall}, 6, 2) as integer)`;
    case "day":
      return sql`cast(substr(${wall}, 9, 2) as integer)`;
    case "hour":
      // A bare date has no hour: its midnight is an empty text, which is 0.
      return sql`cast(substr(${wall}, 12, 2) as integer)`;
  }
}

function hour(time: Time, offsets: readonly Offset[]): SQL {
  const needed = hourOffsets(offsets);
  if (needed.length === 0)
    return sql`(substr(${time.text}, 1, 10) || ' ' || substr(substr(${time.text}, 12, 2) || '00', 1, 2) || ':00:00')`;
  return byOffset(needed, time.isBefore, ({ seconds, hourFrom }) => {
    const local = sql`strftime('%Y-%m-%d %H:00:00', ${whole(time.text)}, ${modifier(seconds)})`;
    const start = sql`datetime(${local}, ${modifier(-seconds)})`;
    return hourFrom === null ? start : sql`max(${start}, '${sql.raw(textOfInstant(hourFrom))}')`;
  });
}
