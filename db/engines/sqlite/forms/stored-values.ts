/**
 * The meaning of stored dates, times, booleans and UUIDs, in any form that a program wrote: SQLite has no such types.
 * Pure functions; `stored-forms.ts` knows which form a column has.
 */
import { finestIso, isDate, readTimestamp } from "../../../../core/values/formats.ts";
import { showTime } from "../../../../core/values/types/time-type.ts";

/** The types of which SQLite databases hold several forms. */
export type FormType = "timestamp" | "date" | "time" | "boolean" | "uuid";

/** The unit of a column's numbers: milliseconds or seconds since 1970, or Julian days. `size`: by the number's size. */
export type Unit = "ms" | "seconds" | "days" | "size";

/** From a stored value (never null) to the text that answers show, or a boolean. Null: the value has no meaning. */
export type ReadStored = (raw: unknown, unit: Unit) => string | boolean | null;

export const readers: Readonly<Record<FormType, ReadStored>> = {
  timestamp: readInstant,
  date: readDay,
  time: (raw) =>
    typeof raw === "string" && /^\d\d:\d\d/.test(raw) ? showTime(raw.replace(/ ?Z$/, "")) : null,
  boolean: (raw) =>
    typeof raw === "string" ? /^(t|true|y|yes|1)$/i.test(raw) : Boolean(Number(raw)),
  uuid: (raw) => (typeof raw === "string" ? raw.toLowerCase() : null),
};

/** The same as one value that sorts and compares as the meaning does; null: it means nothing. */
export function keyOf(type: FormType, raw: unknown, unit: Unit): string | number | null {
  const read = readers[type](raw, unit);
  if (typeof read === "boolean") return read ? 1 : 0;
  // Without its zone, a text with a longer fraction sorts after the shorter one.
  return read !== null && type === "timestamp" ? read.slice(0, -1) : read;
}

function readInstant(raw: unknown, unit: Unit): string | null {
  if (typeof raw === "number") return instantOfNumber(raw, unit);
  if (typeof raw !== "string") return null;
  // Some programs write a space before the zone.
  const text = raw[raw.length - 7] === " " ? raw.slice(0, -7) + raw.slice(-6) : raw;
  const instant = readTimestamp(text);
  return instant && finestIso(instant);
}

/** The day as written, whatever the zone of the text is. */
function readDay(raw: unknown, unit: Unit): string | null {
  if (typeof raw === "number") return instantOfNumber(raw, unit)?.slice(0, 10) ?? null;
  if (typeof raw !== "string") return null;
  const isWhole = raw.length === 10 || raw[10] === " " || raw[10] === "T";
  const day = raw.slice(0, 10);
  return isWhole && isDate(day) ? day : null;
}

/** Julian day of 1970-01-01T00:00:00Z. */
const julianEpoch = 2_440_587.5;
const dayMs = 86_400_000;

/** Seconds since 1970 stay below, milliseconds of the years from 1973 on are above. */
export const millisecondsMin = 1e11;
/** Smaller numbers would be before March 1973 in seconds since 1970: more likely something other than a time. */
export const secondsMin = 1e8;
/** Julian days of the years 1 to 9999. */
export const julianDays = { min: 1_721_425.5, max: 5_373_484.5 };

/** The unit of a number of this size; null: unknown. */
export function unitOfSize(number: number): Exclude<Unit, "size"> | null {
  const size = Math.abs(number);
  if (size >= millisecondsMin) return "ms";
  if (size >= secondsMin) return "seconds";
  return number >= julianDays.min && number < julianDays.max ? "days" : null;
}

function instantOfNumber(number: number, unit: Unit): string | null {
  const counted = unit === "size" ? unitOfSize(number) : unit;
  if (counted === null) return null;
  const ms =
    counted === "ms"
      ? Math.floor(number)
      : counted === "seconds"
        ? Math.round(number * 1_000)
        : Math.round((number - julianEpoch) * dayMs);
  return ms >= firstMs && ms <= lastMs ? new Date(ms).toISOString() : null;
}

const firstMs = Date.parse("0001-01-01T00:00:00.000Z");
const lastMs = Date.parse("9999-12-31T23:59:59.999Z");
