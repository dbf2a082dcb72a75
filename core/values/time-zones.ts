/**
 * Time zones as lists of offsets, taken from `Intl`: databases have tables of time zones of other ages, or none at all.
 * Instants are whole seconds since 1970, in the years 1 to 9999.
 */

/** How far the clocks are ahead of UTC, from an instant on. */
export interface Offset {
  /** Null: there is nothing before it. */
  readonly from: number | null;
  readonly seconds: number;
  /**
   * The earliest instant at which an hour of these clocks begins, where that differs from the full hour of the clocks;
   * null: it does not.
   */
  readonly hourFrom: number | null;
}

/** A first and a last instant. */
export type TimeStretch = readonly [first: number, last: number];

/** The name of an IANA time zone as this runtime writes it; null: it knows none of that name. */
export function timeZoneNamed(name: string): string | null {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return null;
  const known = names.get(name);
  if (known !== undefined) return known;
  try {
    const { timeZone } = new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions();
    if (names.size < namesMax) names.set(name, timeZone);
    return timeZone;
  } catch {
    return null;
  }
}

/** UTC is known: the first zone that a process looks up loads all of them, which takes as long as 40 modules. */
const names = new Map([["UTC", "UTC"]]);
/** There are about 600; upper and lower case make more. */
const namesMax = 2_000;

/** The offsets that the zone has in these stretches of time, which follow one another. Empty: it is always UTC there. */
export function offsetsWithin(zone: string, stretches: readonly TimeStretch[]): readonly Offset[] {
  if (zone === "UTC") return [];
  const offsets: Offset[] = [];
  const add = (from: number, seconds: number, hourFrom: number | null): void => {
    if (offsets.length > 0 && offsets.at(-1)!.seconds === seconds && hourFrom === null) return;
    offsets.push({ from: offsets.length === 0 ? null : from, seconds, hourFrom });
  };
  for (const [first, last] of stretches) {
    const begun = changesOf(zone, yearOf(first) - 1).at(-1);
    let latest = begun ?? { from: first, ...startOf(zone, first) };
    for (let year = yearOf(first); year <= yearOf(last); year++)
      for (const change of changesOf(zone, year)) {
        if (change.from > last) break;
        if (change.from > first && latest.from <= first)
          add(first, latest.seconds, latest.hourFrom);
        if (change.from > first) add(change.from, change.seconds, change.hourFrom);
        latest = change;
      }
    if (latest.from <= first) add(first, latest.seconds, latest.hourFrom);
  }
  return offsets.every(({ seconds, hourFrom }) => seconds === 0 && hourFrom === null)
    ? []
    : offsets;
}

interface Change extends Offset {
  readonly from: number;
}

const startOf = (zone: string, instant: number) => ({
  seconds: offsetAt(zone, instant),
  hourFrom: null,
});

interface Clock {
  /** Milliseconds since 1970 that the clocks would show in UTC. */
  readonly read: (ms: number) => number;
  readonly changes: Map<number, readonly Change[]>;
}

const clocks = new Map<string, Clock>();

/** `zone`: from `timeZoneNamed`. */
function clockOf(zone: string): Clock {
  let clock = clocks.get(zone);
  if (clock === undefined) {
    const format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      calendar: "gregory",
      numberingSystem: "latn",
      hourCycle: "h23",
      era: "short",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    clock = { read: (ms) => shownBy(format, ms), changes: new Map() };
    clocks.set(zone, clock);
  }
  return clock;
}

function shownBy(format: Intl.DateTimeFormat, ms: number): number {
  const shown: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {};
  for (const { type, value } of format.formatToParts(ms)) shown[type] = value;
  const year = shown.era?.startsWith("B") ? 1 - Number(shown.year) : Number(shown.year);
  const day = new Date(0).setUTCFullYear(year, Number(shown.month) - 1, Number(shown.day));
  const hours = Number(shown.hour) * 60 + Number(shown.minute);
  return day + (hours * 60 + Number(shown.second)) * 1_000;
}

/** Clocks that would leave the years 1 to 9999 show UTC. */
function offsetAt(zone: string, instant: number): number {
  const shown = clockOf(zone).read(instant * 1_000) / 1_000;
  return shown < firstInstant || shown > lastInstant ? 0 : shown - instant;
}

export const firstInstant = Date.parse("0001-01-01T00:00:00Z") / 1_000;
export const lastInstant = Date.parse("9999-12-31T23:59:59Z") / 1_000;

const yearOf = (instant: number): number => new Date(instant * 1_000).getUTCFullYear();

const startOfYear = (year: number): number =>
  Math.max(firstInstant, new Date(0).setUTCFullYear(year, 0, 1) / 1_000);

/** From the first to the last second of a year; null: it is none from 1 to 9999. */
export const yearStretch = (year: number): TimeStretch | null =>
  year >= 1 && year <= 9_999
    ? [startOfYear(year), year === 9_999 ? lastInstant : startOfYear(year + 1) - 1]
    : null;

const daySeconds = 86_400;
/** No country had legal time before. */
const legalTimeYear = 1_830;
/** From then on, clocks change by rules that hold for ever: the offsets stay for months, and repeat with the calendar. */
const foreseenYear = 2_100;
const calendarYears = 400;
const calendarSeconds = 146_097 * daySeconds;

/** The changes of one year, in their order. Looks at every day, as some changes are taken back after a few days. */
function changesOf(zone: string, year: number): readonly Change[] {
  if (year < 1 || year > 9_999) return [];
  const { changes } = clockOf(zone);
  const known = changes.get(year);
  if (known) return known;
  const found =
    year >= foreseenYear + calendarYears && year < 9_999 ? repeated(zone, year) : read(zone, year);
  changes.set(year, found);
  return found;
}

function repeated(zone: string, year: number): readonly Change[] {
  const times = Math.floor((year - foreseenYear) / calendarYears);
  const later = times * calendarSeconds;
  return changesOf(zone, year - times * calendarYears).map(({ from, seconds, hourFrom }) => ({
    from: from + later,
    seconds,
    hourFrom: hourFrom === null ? null : hourFrom + later,
  }));
}

function read(zone: string, year: number): readonly Change[] {
  const found: Change[] = [];
  const end = year === 9_999 ? lastInstant : startOfYear(year + 1);
  let at = Math.max(firstInstant, startOfYear(year) - 1);
  let before = offsetAt(zone, at);
  const isEdge = year === 1 || year === 9_999;
  const isFlat = year < legalTimeYear && !isEdge;
  const step = isFlat ? Infinity : (year < foreseenYear || isEdge ? 1 : 20) * daySeconds;
  while (at < end) {
    const next = Math.min(end, at + step);
    const after = offsetAt(zone, next);
    if (after !== before) found.push(changeBetween(zone, at, next));
    [at, before] = [next, after];
  }
  return found.filter(({ from }) => from < end || year === 9_999);
}

/** The first instant with another offset. There is one change between the two. */
function changeBetween(zone: string, first: number, last: number): Change {
  const seconds = offsetAt(zone, last);
  let [low, high] = [first, last];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(zone, middle) === seconds) high = middle;
    else low = middle;
  }
  return { from: high, seconds, hourFrom: hourAfter(high, offsetAt(zone, low), seconds) };
}

/** When the hour begins that the clocks show after a change; null: at their full hour. */
function hourAfter(change: number, before: number, after: number): number | null {
  const hour = Math.floor((change + after) / 3_600);
  const hourBefore = Math.floor((change - 1 + before) / 3_600);
  // Clocks that are put forward within an hour go on with it.
  const start = after > before && hour === hourBefore ? hour * 3_600 - before : change;
  return start === hour * 3_600 - after ? null : start;
}
