/** Times of day: `HH:mm:ss`. */
import { partsOf, readTime, timeText } from "./formats.ts";
import {
  accepted,
  asItIs,
  isAboveByNature,
  refused,
  textOfShown,
  trimmedCell,
  type TypeDefinition,
} from "./type-definition.ts";

export const timeType: TypeDefinition = {
  accept(_column, value) {
    const time = typeof value === "string" ? readTime(value) : null;
    return time === null ? refused("must be a time in the form HH:mm:ss") : accepted(time);
  },
  // Not the format time, which asks for a zone.
  shownSchema: () => ({ type: "string", pattern: String.raw`^([01]\d|2[0-3]):[0-5]\d:[0-5]\d$` }),
  acceptedSchema: () => ({ type: "string", pattern: timeText.source, examples: ["08:15:00"] }),
  fromShown: textOfShown,

  ruleNames: ["time"],
  strict: null,
  bounds: "time",
  fromOther: asItIs,
  fromCell: trimmedCell(asItIs),
  cellForm: () => ({ words: "Time of day, such as 08:15:00", format: "hh:mm:ss", width: 10 }),
  hasWords: false,
  // Pickers send an instant for a time of day.
  fromFilter: (text) => partsOf(text)?.time ?? text,
  exportedAs: "text",

  isCompared: true,
  isAbove: isAboveByNature,
  isSorted: true,
  isGrouped: true,
  hasExtremes: true,
  arithmetic: null,
  isJoined: true,
  hasText: true,
  wordsOf: null,
  findsRows: true,

  isText: false,
  isInstant: false,
  isForeign: false,
  isFolded: false,
  takesNewId: false,
  isShownAsGiven: false,
};

/** `HH:mm:ss`; fraction and zone are cut. MySQL's durations beyond a day are shown as they are. */
export function showTime(text: string): string {
  if (text[2] !== ":") return text;
  return text.length === 5 ? `${text}:00` : text.slice(0, 8);
}
