/** The forms of timestamps and dates, recognized by the spellings of a column's values. */
import { type StoredForm, form } from "./stored-form.ts";
import { julianDays, millisecondsMin, secondsMin, type Unit, unitOfSize } from "./stored-values.ts";

/** How many values are written alike, by the spelling; and the numbers among them. */
export interface Spellings {
  readonly counts: ReadonlyMap<string, number>;
  /** The smallest and largest size of a number; null = there is none. */
  readonly sizes: { readonly min: number; readonly max: number } | null;
  /** The database writes fractions of a second where it fills the column itself. */
  readonly writesFractions: boolean;
}

/** Spellings of numbers. */
const number = { whole: "whole", real: "real" } as const;

const instantText =
  /^\d{4}-\d\d-\d\d(?:([T ])(\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?( ?(?:Z|[+-]\d\d:?\d\d))?)?$/;

/**
 * `separator|digits|zeros|zone|midnight`, `day`, a kind of number, or `?`.
 * Zeros: `0` = all digits are zeros, `z` = the digits after the third end in a zero.
 */
export function instantSpelling(raw: unknown): string {
  if (typeof raw === "number") return Number.isInteger(raw) ? number.whole : number.real;
  const match = typeof raw === "string" ? instantText.exec(raw) : null;
  if (!match) return "?";
  const [, separator, clock, fraction = "", zone = ""] = match;
  if (separator === undefined) return "day";
  const isZero = /^0*$/.test(fraction);
  const isMidnight = isZero && clock === "00:00:00";
  const zeros = fraction === "" ? "" : isZero ? "0" : /^.{3,}0$/.test(fraction) ? "z" : "";
  return `${separator}|${fraction.length}|${zeros}|${zone}|${isMidnight ? "m" : ""}`;
}

interface TextForm {
  readonly separator: string;
  readonly digits: number;
  /** No fraction if it is zero; with `digits` 3, no trailing zeros after the third digit. Else always all digits. */
  readonly isTrimmed: boolean;
  readonly zone: string;
  /** Midnight is a bare date. */
  readonly isBare: boolean;
}

export const usualInstant: StoredForm = {
  ...textForm({ separator: " ", digits: 3, isTrimmed: true, zone: "", isBare: false }),
  isUsual: true,
};

const milliseconds = numberForm("ms", "whole milliseconds since 1970", 3);
const seconds = numberForm("seconds", "whole seconds since 1970", 0);

/** The one form that all these values have; null when there is none. Without values: the usual one. */
export function instantFormOf({ counts, sizes, writesFractions }: Spellings): StoredForm | null {
  const spellings = [...counts.keys()];
  if (spellings.length === 0) return usualInstant;
  if (spellings.length === 1 && spellings[0] === number.whole && sizes !== null) {
    if (sizes.max >= millisecondsMin) return milliseconds;
    return sizes.min >= secondsMin ? seconds : null;
  }
  return textFormOf(spellings, writesFractions);
}

/** The unit of a column's numbers, if all of them agree. */
export function unitOf({ sizes }: Spellings): Unit {
  if (sizes === null) return "size";
  if (sizes.max >= millisecondsMin) return "ms";
  const isDays = sizes.min >= julianDays.min && sizes.max < julianDays.max;
  return isDays ? "days" : (unitOfSize(sizes.min) ?? "size");
}

function textFormOf(spellings: readonly string[], writesFractions: boolean): StoredForm | null {
  const isBare = spellings.includes("day");
  const timed = spellings.filter((one) => one !== "day").map((one) => one.split("|"));
  if (timed.some(({ length }) => length !== 5)) return null;
  const [separator = " "] = new Set(timed.map(([mark]) => mark!));
  const zones = new Set(timed.map(([, , , zone]) => zone!));
  const isAlike = timed.every(([mark]) => mark === separator) && zones.size <= 1;
  const [zone = ""] = zones;
  // A zone other than UTC may change with the season; a bare date does not sort beside a midnight that is written out.
  if (!isAlike || !/^ ?(Z|[+-]00:?00)?$/.test(zone)) return null;
  if (isBare && (zone !== "" || timed.some(([, , , , midnight]) => midnight !== ""))) return null;
  const lengths = new Set(timed.map(([, digits]) => Number(digits)));
  const zeros = new Set(timed.map(([, , ones]) => ones!));
  if (zone === "" && !zeros.has("0")) {
    if (!zeros.has("z") && isFinest(lengths, writesFractions))
      return separator === " " && !isBare
        ? usualInstant
        : textForm({ separator, digits: 3, isTrimmed: true, zone, isBare });
    if (lengths.size === 2 && lengths.has(0) && lengths.has(6))
      return textForm({ separator, digits: 6, isTrimmed: true, zone, isBare });
  }
  const [digits = 0] = lengths;
  if (lengths.size !== 1 || isBare) return null;
  return textForm({ separator, digits, isTrimmed: false, zone, isBare });
}

/** Whether fractions of these lengths are written as ours: none, or 3 digits and up to 3 more if they are not zeros. */
function isFinest(lengths: ReadonlySet<number>, writesFractions: boolean): boolean {
  const [first = 0] = lengths;
  // Always three digits: no second was whole yet, or the database itself writes the zeros.
  if (lengths.size <= 1) return first === 0 || (first === 3 && !writesFractions);
  const isOrdered = [...lengths].every((length) => length === 0 || (length >= 3 && length <= 6));
  return isOrdered && [3, 4, 5].some((length) => lengths.has(length));
}

function textForm(given: TextForm): StoredForm {
  const { separator, digits, isTrimmed, zone, isBare } = given;
  const words = isBare ? "bare dates" : `texts like ${write("2026-10-31T08:15:00.000Z")}`;
  return form(words, {
    fractionDigits: isTrimmed ? 6 : Math.min(digits, 6),
    bind: (value) => write(String(value)),
    holds: (raw) => allows(instantSpelling(raw)),
  });

  /** From ISO 8601 in UTC. A fraction too fine for the form gives a text between its neighbours, for comparisons. */
  function write(iso: string): string {
    const day = iso.slice(0, 10);
    const clock = iso.slice(11, 19);
    const fraction = iso.slice(20, -1).replace(/0+$/, "");
    if (isBare && clock === "00:00:00" && fraction === "") return day;
    const whole = `${day}${separator}${clock}`;
    if (isTrimmed) return fraction === "" ? whole : `${whole}.${fraction.padEnd(digits, "0")}`;
    const kept = fraction.slice(0, digits).padEnd(digits, "0");
    const text = digits === 0 ? whole : `${whole}.${kept}`;
    if (fraction.length <= digits) return text + zone;
    return zone === "" ? `${whole}.${fraction}` : `${text}${zone}~`;
  }

  function allows(spelling: string): boolean {
    if (spelling === "day") return isBare;
    const [mark, digitsText, zeros, suffix, midnight] = spelling.split("|");
    const length = Number(digitsText);
    if (mark !== separator || suffix !== zone || (isBare && midnight !== "")) return false;
    if (!isTrimmed) return length === digits;
    if (length === 0) return true;
    return digits === 6
      ? length === 6 && zeros !== "0"
      : length >= 3 && length <= 6 && zeros === "";
  }
}

function numberForm(unit: "ms" | "seconds", words: string, fractionDigits: number): StoredForm {
  return form(words, {
    unit,
    fractionDigits,
    bind(value) {
      const iso = String(value);
      // Digits after the milliseconds are only for comparisons.
      const ms = Date.parse(`${iso.slice(0, 23)}Z`) + Number(`0.${iso.slice(23, -1) || "0"}`);
      const count = unit === "ms" ? ms : ms / 1_000;
      return Number.isInteger(count) ? BigInt(count) : count;
    },
    holds: (raw) => typeof raw === "number" && Number.isInteger(raw),
  });
}

export const usualDate: StoredForm = { ...dateForm("", "texts like 2026-10-31"), isUsual: true };

const days = form("whole milliseconds since 1970", {
  unit: "ms",
  bind: (value) => BigInt(Date.parse(`${String(value)}T00:00:00Z`)),
  holds: (raw) => typeof raw === "number" && raw % 86_400_000 === 0,
});

/** The part after the day, or a kind of number. */
export function dateSpelling(raw: unknown): string {
  if (typeof raw === "number") return days.holds(raw) ? number.whole : number.real;
  const match = typeof raw === "string" ? /^\d{4}-\d\d-\d\d($|[T ].*$)/s.exec(raw) : null;
  return match ? `|${match[1]!}` : "?";
}

export function dateFormOf({ counts, sizes }: Spellings): StoredForm | null {
  const [spelling, other] = counts.keys();
  if (spelling === undefined) return usualDate;
  if (other !== undefined || spelling === "?" || spelling === number.real) return null;
  if (spelling === number.whole)
    return sizes !== null && sizes.max >= millisecondsMin ? days : null;
  const behind = spelling.slice(1);
  return behind === "" ? usualDate : dateForm(behind, `texts like 2026-10-31${behind}`);
}

function dateForm(behind: string, words: string): StoredForm {
  return form(words, {
    bind: (value) => `${String(value)}${behind}`,
    holds: (raw) => dateSpelling(raw) === `|${behind}`,
  });
}
