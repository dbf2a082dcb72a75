/** Forms of dates in bodies besides ISO 8601, such as `dd/MM/yyyy HH:mm`: `dateTimeFields` of an endpoint's file. */
import type { ColumnType } from "../values/types/column.ts";

/**
 * Converts a text of the form to ISO 8601, as a column of the type accepts it; any other text is returned unchanged.
 */
export type DateForm = (text: string, type: ColumnType) => string;

const digits: Readonly<Record<string, string>> = {
  yyyy: String.raw`(?<year>\d{4})`,
  MM: String.raw`(?<month>\d\d)`,
  dd: String.raw`(?<day>\d\d)`,
  HH: String.raw`(?<hour>\d\d)`,
  mm: String.raw`(?<minute>\d\d)`,
  ss: String.raw`(?<second>\d\d)`,
};

/** Null for a form with unknown parts, with a part twice, or with neither a whole date nor a time. */
export function readDateForm(form: string): DateForm | null {
  const parts = form.match(/[A-Za-z]+|[^A-Za-z]+/g) ?? [];
  const letters = parts.filter((part) => /[A-Za-z]/.test(part));
  const has = (...names: string[]): boolean => names.every((name) => letters.includes(name));
  const isOnce = new Set(letters).size === letters.length;
  if (!isOnce || !letters.every((part) => Object.hasOwn(digits, part))) return null;
  const hasDate = has("yyyy", "MM", "dd");
  const hasTime = has("HH", "mm");
  const isWhole = hasDate ? hasTime || !/[Hms]/.test(form) : hasTime && !/[yMd]/.test(form);
  if (!isWhole) return null;
  const pattern = new RegExp(
    `^${parts.map((part) => digits[part] ?? RegExp.escape(part)).join("")}$`,
  );
  return (text, type) => {
    const { year, month, day, hour, minute, second = "00" } = pattern.exec(text)?.groups ?? {};
    if (day === undefined && hour === undefined) return text;
    const date = day === undefined ? "" : `${year}-${month}-${day}`;
    const time = hour === undefined ? "" : `${hour}:${minute}:${second}`;
    if (type === "time") return time === "" ? text : time;
    if (type === "date") return date === "" ? text : date;
    return [date, time].filter(Boolean).join(" ");
  };
}
