/** The buckets from a first to a last one, as statements carry them. */
import type { Bucket, SpanUnit } from "../values/types/bucket.ts";
import type { Column } from "../values/types/column.ts";
import { addDecimals, compareDecimals, normalDecimal } from "../values/decimal.ts";
import type { Json } from "../values/json.ts";
import type { Offset } from "../values/time-zones.ts";

interface Bounds {
  /** Two buckets of the column, as answers show them; null = there is none. */
  readonly first: Json;
  readonly last: Json;
  /** Most buckets. */
  readonly max: number;
}

/** Null: there are more than `max`. */
export function bucketsBetween({ derived }: Column, { first, last, max }: Bounds): Json[] | null {
  if (first === null || last === null || derived?.kind !== "bucket") return [];
  const { bucket, of } = derived;
  if (bucket.kind === "part") return [];
  if (bucket.kind === "bin") {
    const bins = exactBins(bucket.width, [String(first), String(last)], max);
    return bins !== null && of.type === "float" ? bins.map(Number) : bins;
  }
  return bucket.unit === "hour"
    ? hours(bucket, [secondsOf(first), secondsOf(last)], max)
    : days(bucket.unit, [secondsOf(first), secondsOf(last)], max);
}

type Ends<Value> = readonly [first: Value, last: Value];

function exactBins(width: string, [first, last]: Ends<string>, max: number): string[] | null {
  const end = normalDecimal(last)!;
  const bins: string[] = [];
  for (let bin = normalDecimal(first)!; compareDecimals(bin, end) <= 0;) {
    if (bins.length === max) return null;
    bins.push(bin);
    bin = addDecimals(bin, width);
  }
  return bins;
}

const secondsOf = (shown: Json): number =>
  Date.parse(String(shown).length === 10 ? `${String(shown)}T00:00:00Z` : String(shown)) / 1_000;

const textOf = (seconds: number): string => new Date(seconds * 1_000).toISOString();

function days(unit: SpanUnit, [first, last]: Ends<number>, max: number): string[] | null {
  const found: string[] = [];
  for (let at = first; at <= last; at = nextDay(at, unit)) {
    if (found.length === max) return null;
    found.push(textOf(at).slice(0, 10));
  }
  return found;
}

const monthsOf: Partial<Record<SpanUnit, number>> = { month: 1, quarter: 3, year: 12 };

function nextDay(seconds: number, unit: SpanUnit): number {
  const months = monthsOf[unit];
  if (months === undefined) return seconds + (unit === "week" ? 7 : 1) * 86_400;
  const day = new Date(seconds * 1_000);
  return day.setUTCMonth(day.getUTCMonth() + months) / 1_000;
}

/** The instants at which hours begin, as texts that every engine reads. */
function hours(
  { offsets }: Extract<Bucket, { kind: "span" }>,
  [first, last]: Ends<number>,
  max: number,
): string[] | null {
  const found: string[] = [];
  for (let at = first; at <= last; at = nextHour(at, offsets)) {
    if (found.length === max) return null;
    found.push(textOf(at).slice(0, 19).replace("T", " "));
  }
  return found;
}

function nextHour(hour: number, offsets: readonly Offset[]): number {
  const at = offsets.findLastIndex(({ from }) => from === null || from <= hour);
  let { seconds } = offsets[at] ?? { seconds: 0 };
  let next = hourAfter(hour, seconds);
  for (const change of offsets.slice(at + 1)) {
    if (change.from! > next) break;
    if (change.hourFrom === null || change.hourFrom > hour) return change.hourFrom ?? change.from!;
    // The clocks go on with the same hour.
    ({ seconds } = change);
    next = hourAfter(change.from!, seconds);
  }
  return next;
}

const hourAfter = (at: number, seconds: number): number =>
  (Math.floor((at + seconds) / 3_600) + 1) * 3_600 - seconds;
