/**
 * The text forms of values that JSON has no type for: dates, times, instants and bytes. Reading is strict: a text that
 * does not name exactly one real value is null. Pure functions without clock and time zone.
 */

/** The pattern of `readTime`. */
export const timeText = /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,30}))?)?$/;
/** The pattern of `readTimestamp`. */
export const timestampText =
  /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,30}))?)?(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)?)?$/;

/** Whether the text is `YYYY-MM-DD` and that day exists, in the years 1 to 9999. */
export const isDate = (text: string): boolean => text.length === 10 && beginsWithDate(text);

function beginsWithDate(text: string): boolean {
  if (text[4] !== "-" || text[7] !== "-") return false;
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const [month, day] = [twoDigits(text, 5), twoDigits(text, 8)];
  // A part that is not a number is NaN, and every comparison with NaN is false.
  return year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

/** Whether the text is `YYYY-MM-DDTHH:mm:ss.sssZ`, as answers show instants, and that instant exists. */
export function isPlainInstant(text: string): boolean {
  return (
    text.length === 24 &&
    text[10] === "T" &&
    text[13] === ":" &&
    text[16] === ":" &&
    text[19] === "." &&
    text[23] === "Z" &&
    twoDigits(text, 11) <= 23 &&
    twoDigits(text, 14) <= 59 &&
    twoDigits(text, 17) <= 59 &&
    twoDigits(text, 20) >= 0 &&
    twoDigits(text, 21) >= 0 &&
    beginsWithDate(text)
  );
}

/** The number of the two digits at `at`; NaN when they are none. */
export function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 48;
  const ones = text.charCodeAt(at + 1) - 48;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : NaN;
}

/**
 * `HH:mm:ss` of a time of day with or without seconds, and its fraction without trailing zeros; null when it is none.
 */
export function readTime(text: string): string | null {
  const match = timeText.exec(text);
  if (!match) return null;
  const [, hour, minute, second = "00", fraction = ""] = match;
  if (!isTimeOfDay(hour!, minute!, second)) return null;
  const shown = fraction.replace(/0+$/, "");
  return `${hour}:${minute}:${second}${shown === "" ? "" : `.${shown}`}`;
}

/** An instant: `iso` is UTC with milliseconds; `fraction` holds the digits of the second's fraction that were given. */
export interface Instant {
  readonly iso: string;
  readonly fraction: string;
}

/**
 * The instant of an ISO 8601 text: a date, then `T` or a blank, hours, minutes, and optionally seconds, fraction and
 * zone. Without a zone it is UTC; a bare date is its midnight. Null when it is none, or outside the years 1 to 9999 in
 * UTC.
 */
export function readTimestamp(text: string): Instant | null {
  // Most texts have this form, and checking for it takes a tenth of the time: imports and exports contain millions.
  if (isPlainInstant(text)) return { iso: text, fraction: text.slice(20, 23) };
  const match = timestampText.exec(text);
  if (!match) return null;
  const [
    ,
    date,
    hour = "00",
    minute = "00",
    second = "00",
    fraction = "",
    sign,
    zoneHour,
    zoneMinute = "00",
  ] = match;
  if (!isDate(date!) || !isTimeOfDay(hour, minute, second)) return null;
  const milliseconds = fraction.slice(0, 3).padEnd(3, "0");
  const iso = `${date}T${hour}:${minute}:${second}.${milliseconds}Z`;
  if (sign === undefined) return { iso, fraction };
  if (!isTimeOfDay(zoneHour!, zoneMinute, "00")) return null;
  const offsetMs = (Number(zoneHour) * 60 + Number(zoneMinute)) * 60_000;
  const shifted = new Date(Date.parse(iso) + (sign === "+" ? -offsetMs : offsetMs));
  const year = shifted.getUTCFullYear();
  return year < 1 || year > 9999 ? null : { iso: shifted.toISOString(), fraction };
}

/** The message if a second's fraction has more digits than `max`; otherwise null. Trailing zeros do not count. */
export function fractionFault(fraction: string, max: number): string | null {
  if (fraction.replace(/0+$/, "").length <= max) return null;
  return max === 0
    ? "must be a whole second"
    : `must have at most ${max} fractional digits in the seconds`;
}

/** The instant with its milliseconds, followed by up to three more digits if these are not zero. */
export function finestIso({ iso, fraction }: Instant): string {
  const finer = fraction.slice(3, 6).replace(/0+$/, "");
  return finer === "" ? iso : `${iso.slice(0, -1)}${finer}Z`;
}

/**
 * A text that sorts by time: ISO 8601 UTC without its zone for dates and timestamps, `HH:mm:ss` for times of day, both
 * with up to six digits of the second; null for everything else.
 */
export function momentOf(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const instant = readTimestamp(value);
  return instant === null ? readTime(value) : finestIso(instant).slice(0, -1);
}

/**
 * Below, at or above 0, as the first is before, at or after the second. Null if one is no moment, and between a time of
 * day and a date.
 */
export function compareMoments(left: string | null, right: string | null): number | null {
  if (left === null || right === null || left.includes("T") !== right.includes("T")) return null;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Day and time of day as the text of an instant writes them, in its own zone; null for everything else. */
export function partsOf(value: unknown): { day: string; time: string } | null {
  if (typeof value !== "string" || readTimestamp(value) === null) return null;
  const [time] = /\d\d:\d\d(:\d\d)?/.exec(value) ?? [];
  return time === undefined ? null : { day: value.slice(0, 10), time };
}

const base64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const base64Codes = Uint8Array.from(base64Alphabet, (digit) => digit.charCodeAt(0));
const asciiDecoder = new TextDecoder("latin1");

/**
 * Base64 of the bytes, standard alphabet, padded. Written by hand, because `btoa` needs a string first and takes
 * several times as long.
 */
export function toBase64(bytes: Uint8Array): string {
  const codes = new Uint8Array(Math.ceil(bytes.length / 3) * 4).fill("=".charCodeAt(0));
  const whole = bytes.length - (bytes.length % 3);
  let to = 0;
  for (let at = 0; at < whole; at += 3) {
    const bits = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
    codes[to++] = base64Codes[bits >> 18]!;
    codes[to++] = base64Codes[(bits >> 12) & 63]!;
    codes[to++] = base64Codes[(bits >> 6) & 63]!;
    codes[to++] = base64Codes[bits & 63]!;
  }
  if (whole < bytes.length) {
    const bits = (bytes[whole]! << 16) | ((bytes[whole + 1] ?? 0) << 8);
    codes[to++] = base64Codes[bits >> 18]!;
    codes[to++] = base64Codes[(bits >> 12) & 63]!;
    if (bytes.length - whole === 2) codes[to] = base64Codes[(bits >> 6) & 63]!;
  }
  return asciiDecoder.decode(codes);
}

const base64Text = /^[A-Za-z0-9+/]*={0,2}$/;

/** The bytes of a base64 text, padded or not; null for any other text, also where unused bits are not zero. */
export function fromBase64(text: string): Uint8Array | null {
  if (!base64Text.test(text)) return null;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  if (padding > 0 && text.length % 4 !== 0) return null;
  const digits = text.length - padding;
  const rest = digits % 4;
  if (rest === 1) return null;
  const last = rest === 0 ? 0 : base64Alphabet.indexOf(text[digits - 1]!);
  if (last & (rest === 2 ? 15 : 3)) return null;
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

const isTimeOfDay = (hour: string, minute: string, second: string): boolean =>
  hour <= "23" && minute <= "59" && second <= "59";

function daysIn(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}
