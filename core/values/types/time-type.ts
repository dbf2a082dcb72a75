/**
 * Times of day: `HH:mm:ss`, with up to six digits of the second. Those of some columns can be below zero and beyond a
 * day.
 */
import type { Column } from "./column.ts";
import { fractionFault, partsOf, readTime, timeText } from "../formats.ts";
import type { JsonSchema } from "../json-schema.ts";
import { type Accepted, accepted, defineType, refused, usual } from "./type-definition.ts";

export const timeType = defineType(usual, {
  accept: acceptTime,
  // Not the format "time", which requires a zone.
  shownSchema: (column) => timeSchema(column, column.endsDays ? dayPattern : timePattern),
  acceptedSchema: (column) => ({ ...timeSchema(column, timeText.source), examples: ["08:15:00"] }),
  edmType: ({ fractionDigits }) => ({
    name: "Edm.TimeOfDay",
    facets: { Precision: String(fractionDigits) },
  }),
  ruleNames: ["time"],
  bounds: "time",
  cellForm: () => ({ words: "Time of day, such as 08:15:00", format: "hh:mm:ss", width: 10 }),
  // Date pickers send an instant for a time of day.
  fromFilter: (text) => partsOf(text)?.time ?? text,
  isAbove: (left, right) => secondsOf(String(left)) > secondsOf(String(right)),
});

const timeOfDay = String.raw`([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?`;
const timePattern = `^${timeOfDay}$`;
const dayPattern = `^(${timeOfDay}|24:00:00)$`;
const endOfDay = /^24:00(?::00(?:\.0{1,30})?)?$/;
/** What MySQL calls a time. */
const duration = /^(-?)(\d{2,3}):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,30}))?)?$/;
const durationHoursMax = 838;

const timeSchema = ({ isDuration }: Column, pattern: string): JsonSchema => ({
  type: "string",
  pattern: isDuration ? duration.source : pattern,
});

/** `HH:mm:ss` with the fraction, without its trailing zeros. */
export function showTime(text: string): string {
  if (/^\d\d:\d\d$/.test(text)) return `${text}:00`;
  const point = text.indexOf(".");
  return point < 0 ? text : text.slice(0, point + 7).replace(/\.?0+$/, "");
}

function acceptTime({ fractionDigits, isDuration, endsDays }: Column, value: unknown): Accepted {
  if (endsDays && typeof value === "string" && endOfDay.test(value)) return accepted("24:00:00");
  const time = typeof value === "string" ? (isDuration ? readDuration : readTime)(value) : null;
  if (time === null) return refused("must be a time in the form HH:mm:ss");
  const fault = fractionFault(time.split(".")[1] ?? "", fractionDigits);
  return fault === null ? accepted(time) : refused(fault);
}

/** Null if the text is not a time that the server can store. */
function readDuration(text: string): string | null {
  const match = duration.exec(text);
  if (!match) return null;
  const [, sign, hours = "", minutes, seconds = "00", fraction = ""] = match;
  if (Number(hours) > durationHoursMax) return null;
  const digits = fraction.replace(/0+$/, "");
  const isLast = Number(hours) === durationHoursMax && minutes === "59" && seconds === "59";
  if (isLast && digits !== "") return null;
  const shownHours = hours.length === 3 && hours.startsWith("0") ? hours.slice(1) : hours;
  return `${sign}${shownHours}:${minutes}:${seconds}${digits === "" ? "" : `.${digits}`}`;
}

function secondsOf(time: string): number {
  const [hours = "0", minutes = "0", seconds = "0"] = time.replace("-", "").split(":");
  const total = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return time.startsWith("-") ? -total : total;
}
