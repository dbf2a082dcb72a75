/**
 * Dates as a workbook counts them: days since the end of 1899, the time of day as the fraction. Excel believes in a 29 February
 * 1900, other programs do not, so they agree only from 1 March 1900 on. Both ways are here: `serialOf` for the writer
 * (`cell-xml.ts`), `dateOfSerial` for the reader (`sheet-cells.ts`).
 */
import { readTime, readTimestamp } from "../../core/writes/formats.ts";

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
 * The serial number of `YYYY-MM-DD`, of an ISO 8601 text (in UTC) or of `HH:mm:ss` (the fraction alone). Null for all else, and
 * for days that programs do not agree on: before 1 March 1900.
 */
export function serialOf(text: string): number | null {
  if (text.length <= 8) {
    const time = readTime(text);
    return time === null ? null : Date.parse(`1970-01-01T${time}Z`) / dayMs;
  }
  const ms = msOf(text);
  if (ms === null) return null;
  const serial = ms / dayMs + epochSerial;
  return serial >= firstSerial && serial < endSerial ? serial : null;
}

/** Milliseconds since 1970 of `YYYY-MM-DD` or an ISO 8601 text; null when it is none. */
export function msOf(text: string): number | null {
  const ms = plainMs(text);
  if (!Number.isNaN(ms)) return ms;
  const instant = readTimestamp(text);
  return instant === null ? null : Date.parse(instant.iso);
}

/**
 * The same for the two forms that answers have, `YYYY-MM-DD` and `YYYY-MM-DDTHH:mm:ss.sssZ`, in a tenth of the time: an
 * export may hold millions of them. NaN for all other texts, and for those that want a closer look.
 */
function plainMs(text: string): number {
  const isInstant = text.length === 24 && text[10] === "T" && text[23] === "Z";
  if ((text.length !== 10 && !isInstant) || text[4] !== "-" || text[7] !== "-") return NaN;
  const [century, month, day] = [digits(text, 0), digits(text, 5), digits(text, 8)];
  // Whether a 29th to 31st exists depends on the month, and Date.UTC takes the years before 100 for others.
  if (century < 10 || month < 1 || month > 12 || day < 1 || day > 28) return NaN;
  const dayStart = Date.UTC(century * 100 + digits(text, 2), month - 1, day);
  if (!isInstant) return dayStart;
  if (text[13] !== ":" || text[16] !== ":" || text[19] !== ".") return NaN;
  const [hour, minute, second] = [digits(text, 11), digits(text, 14), digits(text, 17)];
  if (hour > 23 || minute > 59 || second > 59) return NaN;
  const milliseconds = digits(text, 20) * 10 + (digits(text, 21) % 10);
  return dayStart + ((hour * 60 + minute) * 60 + second) * 1000 + milliseconds;
}

/** The number of the two digits at `at`; NaN when they are none. */
function digits(text: string, at: number): number {
  const [tens, ones] = [text.charCodeAt(at) - 48, text.charCodeAt(at + 1) - 48];
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : NaN;
}

export type DateKind =
  | "date"
  | "datetime"
  /** A time of day. */
  | "time"
  /** Hours that go on beyond 24. */
  | "duration";

/**
 * The text of a cell that is formatted as a date, by what its format shows: `YYYY-MM-DD`, ISO 8601 in UTC with milliseconds, or `HH:mm:ss`.
 * A time of day that the format hides is given nevertheless. Null when the number is no date.
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

/** Days come again and again in a column; making the text of one takes longer than all the rest. */
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
  // The day that never was stays what Excel shows: whoever reads it as a date will refuse it.
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
