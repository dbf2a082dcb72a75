/** The forms of times of day, booleans and UUIDs. */
import type { Spellings } from "./instant-forms.ts";
import { form, type StoredForm } from "./stored-form.ts";

export const usualTime: StoredForm = { ...timeForm("", "texts like 08:15:00"), isUsual: true };

/** What stands behind the seconds. */
export function timeSpelling(raw: unknown): string {
  const match = typeof raw === "string" ? /^\d\d:\d\d:\d\d(.*)$/s.exec(raw) : null;
  return match ? `|${match[1]!}` : "?";
}

/** The one form that all these values have; null when there is none. So are the functions below. */
export function timeFormOf({ counts }: Spellings): StoredForm | null {
  const [spelling, other] = counts.keys();
  if (spelling === undefined || (other === undefined && spelling === "|")) return usualTime;
  const behind = spelling.slice(1);
  if (other !== undefined || !/^(\.0+)?Z?$/.test(behind) || spelling === "?") return null;
  return timeForm(behind, `texts like 08:15:00${behind}`);
}

function timeForm(behind: string, words: string): StoredForm {
  return form(words, {
    bind: (value) => `${String(value)}${behind}`,
    holds: (raw) => timeSpelling(raw) === `|${behind}`,
  });
}

export const usualBoolean: StoredForm = form("1 and 0", {
  isUsual: true,
  bind: (value) => (value ? 1n : 0n),
  holds: (raw) => raw === 1 || raw === 0,
});

/** Each sorts as false and true do. */
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

/** `digits`: without a letter, so that it is both. */
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
