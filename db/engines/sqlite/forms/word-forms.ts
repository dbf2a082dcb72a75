/** The forms of times of day, booleans and UUIDs. */
import type { Spellings } from "./instant-forms.ts";
import { form, type StoredForm } from "./stored-form.ts";

/** A fraction has no zeros at its end. */
export const usualTime: StoredForm = form("texts like 08:15:00", {
  isUsual: true,
  bind: (value) => value,
  holds: (raw) => /^\d\|\|$/.test(timeSpelling(raw)),
});

/** `digits|zeros at the end|zone`, or `?`. */
export function timeSpelling(raw: unknown): string {
  const match = typeof raw === "string" ? /^\d\d:\d\d:\d\d(?:\.(\d{1,6}))?(Z?)$/.exec(raw) : null;
  if (!match) return "?";
  const [, fraction = "", zone] = match;
  return `${fraction.length}|${fraction.endsWith("0") ? "z" : ""}|${zone}`;
}

/** The one form that all these values have; null when there is none. The same holds for the functions below. */
export function timeFormOf({ counts }: Spellings): StoredForm | null {
  const spellings = [...counts.keys()];
  if (spellings.every((one) => one.endsWith("||"))) return usualTime;
  const [first, other] = new Set(spellings.map((one) => one.replace("z", "")));
  if (first === undefined || other !== undefined || first === "?") return null;
  const [digits, , zone = ""] = first.split("|");
  return timeForm(Number(digits), zone);
}

/** The number of digits is fixed. */
function timeForm(digits: number, zone: string): StoredForm {
  return form(`texts like ${write("08:15:00")}`, {
    fractionDigits: digits,
    bind: (value) => write(String(value)),
    holds(raw) {
      const [length, , suffix] = timeSpelling(raw).split("|");
      return Number(length) === digits && suffix === zone;
    },
  });

  /** A fraction too fine for the form gives a text between its neighbours, for comparisons. */
  function write(time: string): string {
    const [clock, fraction = ""] = time.split(".");
    const kept = digits === 0 ? "" : `.${fraction.slice(0, digits).padEnd(digits, "0")}`;
    return `${clock}${kept}${zone}${fraction.length > digits ? "~" : ""}`;
  }
}

export const usualBoolean: StoredForm = form("1 and 0", {
  isUsual: true,
  bind: (value) => (value ? 1n : 0n),
  holds: (raw) => raw === 1 || raw === 0,
});

/** In each pair, the words sort as false and true. */
const wordPairs = [
  ["false", "true"],
  ["FALSE", "TRUE"],
  ["False", "True"],
  ["f", "t"],
  ["F", "T"],
  ["no", "yes"],
  ["NO", "YES"],
  ["No", "Yes"],
  ["n", "y"],
  ["N", "Y"],
] as const;

export const booleanSpelling = (raw: unknown): string =>
  usualBoolean.holds(raw) ? "number" : typeof raw === "string" ? `|${raw}` : "?";

export function booleanFormOf({ counts }: Spellings): StoredForm | null {
  const spellings = [...counts.keys()];
  if (spellings.every((one) => one === "number")) return usualBoolean;
  const pair = wordPairs.find((words) =>
    spellings.every((one) => words.some((word) => one === `|${word}`)),
  );
  if (pair === undefined) return null;
  const [no, yes] = pair;
  return form(`the texts ${yes} and ${no}`, {
    bind: (value) => (value ? yes : no),
    holds: (raw) => raw === yes || raw === no,
  });
}

export const usualUuid: StoredForm = form("texts in lower case", {
  isUsual: true,
  bind: (value) => value,
  holds: (raw) => uuidSpelling(raw) !== "upper" && uuidSpelling(raw) !== "?",
});

const upperUuid = form("texts in upper case", {
  bind: (value) => String(value).toUpperCase(),
  holds: (raw) => typeof raw === "string" && raw === raw.toUpperCase(),
});

/** `digits`: without letters, so it is both upper and lower case. */
export function uuidSpelling(raw: unknown): string {
  if (typeof raw !== "string") return "digits";
  const isLower = raw === raw.toLowerCase();
  const isUpper = raw === raw.toUpperCase();
  if (isLower) return isUpper ? "digits" : "lower";
  return isUpper ? "upper" : "?";
}

export function uuidFormOf({ counts }: Spellings): StoredForm | null {
  const cases = new Set([...counts.keys()].filter((one) => one !== "digits"));
  if (cases.has("?") || cases.size > 1) return null;
  return cases.has("upper") ? upperUuid : usualUuid;
}
