/** The text of a number: from the plan of its column, the values of its record, and the place in its counter. */
import { columnsBehind, type NumberPart, type NumberPlan } from "../plans/number-tables.ts";
import { AppError, type FieldErrors } from "../values/errors.ts";
import type { Scalar } from "../values/scalar.ts";
import { offsetsWithin } from "../values/time-zones.ts";
import { accept } from "../values/types/accept.ts";
import type { Column } from "../values/types/column.ts";

/** The number of a record, as far as its record tells it. */
export interface OpenNumber {
  readonly plan: NumberPlan;
  /** What the format gives around `{seq}`. */
  readonly before: string;
  readonly behind: string;
  /** In the order of the plan. */
  readonly by: readonly Scalar[];
}

/** When numbers are given. */
export interface NumberTime {
  /** ISO 8601 UTC. */
  readonly now: string;
  /** From `timeZoneNamed`. */
  readonly timeZone: string;
}

export type ValueOf = (column: Column) => Scalar | undefined;

export const isEmpty = (value: Scalar | undefined): boolean =>
  value === undefined || value === null || value === "";

/** Adds an error for each column that is empty, and returns null then. */
export function openNumber(
  plan: NumberPlan,
  { valueOf, time, errors }: { valueOf: ValueOf; time: NumberTime; errors: FieldErrors },
): OpenNumber | null {
  const empty = columnsBehind(plan).filter((column) => isEmpty(valueOf(column)));
  for (const { name } of empty) errors[name] = ["is required for the number of the record"];
  const { date, by, format } = plan;
  if (empty.length > 0) return null;
  const day = dayOf(date && valueOf(date)!, time);
  if (day === null) {
    if (date) errors[date.name] = ["must be a day of the years 1 to 9999"];
    return null;
  }
  const seqAt = format.findIndex(({ kind }) => kind === "seq");
  const texts = format.map((part) => givenBy(part, { day, valueOf }));
  return {
    plan,
    before: texts.slice(0, seqAt).join(""),
    behind: texts.slice(seqAt + 1).join(""),
    by: by.map((column) => valueOf(column)!),
  };
}

/** All that the format gives, with `{seq}` in its place. */
export const counterPattern = ({ before, behind }: OpenNumber): string => `${before}{seq}${behind}`;

/** Of an instant, in the time zone; of a date, itself. Null: it has no year of four digits. */
function dayOf(date: Scalar, { now, timeZone }: NumberTime): string | null {
  const moment = date === null ? now : String(date);
  const day = /^\d{4}-\d\d-\d\d$/.test(moment) ? moment : dayIn(timeZone, moment);
  return day !== null && /^\d{4}-/.test(day) ? day : null;
}

function dayIn(timeZone: string, instant: string): string | null {
  const ms = Date.parse(instant);
  if (Number.isNaN(ms)) return null;
  const seconds = Math.floor(ms / 1_000);
  const [offset] = offsetsWithin(timeZone, [[seconds, seconds]]);
  return new Date((seconds + (offset?.seconds ?? 0)) * 1_000).toISOString().slice(0, 10);
}

function givenBy(part: NumberPart, { day, valueOf }: { day: string; valueOf: ValueOf }): string {
  switch (part.kind) {
    case "text":
      return part.text;
    case "column":
      return String(valueOf(part.column));
    case "seq":
      return "";
    case "date":
      return dateParts[part.digits](day);
  }
}

const dateParts = {
  yyyy: (day: string) => day.slice(0, 4),
  yy: (day: string) => day.slice(2, 4),
  MM: (day: string) => day.slice(5, 7),
  dd: (day: string) => day.slice(8, 10),
};

/** The number with this place in its counter. Rejects with `constraintViolation` if there is none. */
export function countedText(open: OpenNumber, seq: bigint): string {
  const { plan, before, behind } = open;
  const { column, format } = plan;
  const digits = format.find((part) => part.kind === "seq")?.digits ?? null;
  const own = String(seq);
  if (digits !== null && own.length > digits)
    throw usedUp(column, `all numbers of ${digits} digits are used up: ${counterPattern(open)}`);
  const text = before + own.padStart(digits ?? 0, "0") + behind;
  const accepted = accept(column, text);
  if (!accepted.ok) throw usedUp(column, `the number ${text} ${accepted.message}`);
  return text;
}

function usedUp({ name }: Column, reason: string): AppError {
  const message = `No number can be given: ${reason}`;
  return new AppError("constraintViolation", message, { errors: { [name]: [reason] } });
}
