/**
 * Dates as a workbook counts them: days since the end of 1899, with the time of day as the fraction. Excel counts a 29
 * February 1900, other programs do not, so they agree only from 1 March 1900 on. Both directions are here: `serialOf`
 * for the writer (`cell-xml.ts`), `dateOfSerial` for the reader (`sheet-cells.ts`).
 */
import {
  isDate,
  isPlainInstant,
  readTime,
  readTimestamp,
  twoDigits,
} from "../../core/values/formats.ts";

const dayMs = 86_400_000;
/** Days from 30 December 1899 to 1 January 1970. */
const epochSerial = 25_569;
/** 1 March 1900, from where all programs agree. */
const firstSerial = 61;
/** The day after 31 December 9999. */
const endSerial = 2_958_466;
/** Days between the two calendars: a workbook from an old Mac counts from 1 January 1904. */
const days1904 = 1_462;

/**
 * The serial number of `YYYY-MM-DD`, of an ISO 8601 text (in UTC) or of `HH:mm:ss` (only the fraction). Null for
 * everything else, and for days on which programs do not agree: before 1 March 1900.
 */
export function serialOf(text: string): number | null {
  if (text[2] === ":") {
    const time = readTime(text);
    return time === null ? null : Date.parse(`1970-01-01T${time}Z`) / dayMs;
  }
  const ms = msOf(text);
  if (ms === null) return null;
  const serial = ms / dayMs + epochSerial;
  return serial >= firstSerial && serial < endSerial ? serial : null;
}

/** Milliseconds since 1970 of `YYYY-MM-DD` or an ISO 8601 text; null for other texts. */
export function msOf(text: string): number | null {
  const ms = plainMs(text);
  if (!Number.isNaN(ms)) return ms;
  const instant = readTimestamp(text);
  return instant === null ? null : Date.parse(instant.iso);
}

/**
 * The same for the two forms that answers have, in a tenth of the time: an export can contain millions of them. NaN
 * for all other texts.
 */
function plainMs(text: string): number {
  const isInstant = isPlainInstant(text);
  if (!isInstant && !isDate(text)) return NaN;
  const century = twoDigits(text, 0);
  // Date.UTC adds 1900 to years before 100.
  if (century === 0) return NaN;
  const [month, day] = [twoDigits(text, 5), twoDigits(text, 8)];
  const dayStart = Date.UTC(century * 100 + twoDigits(text, 2), month - 1, day);
  if (!isInstant) return dayStart;
  const minutes = twoDigits(text, 11) * 60 + twoDigits(text, 14);
  const milliseconds = twoDigits(text, 20) * 10 + (twoDigits(text, 21) % 10);
  return dayStart + (minutes * 60 + twoDigits(text, 17)) * 1000 + milliseconds;
}

/** What a number with a date format shows. */
export type DateKind =
  | "date"
  | "datetime"
  /** A time of day. */
  | "time"
  /** Hours that go on beyond 24. */
  | "duration";

/**
 * The text of a date cell, by what its format shows: `YYYY-MM-DD`, ISO 8601 in UTC with milliseconds, or `HH:mm:ss`. A
 * time of day that the format hides is included. Null if the number is not a date.
 */
export function dateOfSerial(
  serial: number,
  { kind, is1904 }: { kind: DateKind; is1904: boolean },
): string | null {
  if (serial < 0) return null;
  if (kind === "duration" || (kind === "time" && serial < 1)) {
    const ms = Math.round(serial * dayMs);
    return timeOf(ms, ms % 1000 === 0 ? 0 : 3);
  }
  const days = is1904 ? serial + days1904 : serial;
  if (days < 1 || days >= endSerial) return null;
  const ms = Math.round(days * dayMs);
  return kind === "date" && ms % dayMs === 0 ? dayOf(ms / dayMs) : isoOf(ms);
}

/** ISO 8601 of milliseconds since 30 December 1899, in Excel's calendar. */
function isoOf(ms: number): string {
  const day = Math.floor(ms / dayMs);
  return `${dayOf(day)}T${timeOf(ms - day * dayMs, 3)}Z`;
}

/** Days repeat often in a column, and making the text of one takes longer than all other steps. */
const dayTexts = new Map<number, string>();
const dayTextsMax = 50_000;

function dayOf(day: number): string {
  const known = dayTexts.get(day);
  if (known !== undefined) return known;
  if (dayTexts.size >= dayTextsMax) dayTexts.clear();
  const text = writeDay(day);
  dayTexts.set(day, text);
  return text;
}

function writeDay(day: number): string {
  // Excel's non-existent day is kept as Excel shows it; reading it as a date refuses it.
  if (day === 60) return "1900-02-29";
  const shift = day < 60 ? 1 : 0;
  return new Date((day + shift - epochSerial) * dayMs).toISOString().slice(0, 10);
}

/** `HH:mm:ss`, hours beyond 24 included, with as many digits of the second's fraction. */
function timeOf(ms: number, digits: 0 | 3): string {
  const seconds = Math.floor(ms / 1000);
  const [hour, minute] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const time = `${two(hour)}:${two(minute)}:${two(seconds % 60)}`;
  return digits === 0 ? time : `${time}.${String(ms % 1000).padStart(3, "0")}`;
}

const two = (number: number): string => (number < 10 ? `0${number}` : String(number));
