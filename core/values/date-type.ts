/** Days without a time: `YYYY-MM-DD`. */
import { isDate, partsOf, readTimestamp } from "./formats.ts";
import {
  accepted,
  asItIs,
  type FilledCell,
  isAboveByNature,
  refused,
  textOfShown,
  trimmedCell,
  type TypeDefinition,
} from "./type-definition.ts";

const schema = { type: "string", format: "date" } as const;

export const dateType: TypeDefinition = {
  accept: (_column, value) =>
    typeof value === "string" && isDate(value)
      ? accepted(value)
      : refused("must be a date in the form YYYY-MM-DD"),
  shownSchema: () => schema,
  acceptedSchema: () => schema,
  fromShown: textOfShown,

  ruleNames: ["date"],
  strict: null,
  bounds: "date",
  fromOther: asItIs,
  fromCell: trimmedCell(dateOfCell),
  cellForm: () => ({ words: "Date, such as 2026-10-31", format: "yyyy-mm-dd", width: 12 }),
  hasWords: false,
  // Pickers send an instant for a day.
  fromFilter: (text) => partsOf(text)?.day ?? text,
  exportedAs: "date",

  isCompared: true,
  isAbove: isAboveByNature,
  isSorted: true,
  isGrouped: true,
  hasExtremes: true,
  arithmetic: null,
  isJoined: true,
  hasText: true,
  fromMember: null,
  wordsOf: null,
  findsRows: true,

  isText: false,
  isInstant: false,
  isForeign: false,
  isFolded: false,
  takesNewId: false,
  isShownAsGiven: false,
};

/** `YYYY-MM-DD`, from a date or the beginning of a timestamp; MySQL's zero date is null. */
export function showDate(text: string): string | null {
  if (text.startsWith("0000-00-00")) return null;
  return text[10] === " " || text[10] === "T" ? text.slice(0, 10) : text;
}

/** A date with a time of midnight is the date. */
function dateOfCell(cell: FilledCell): FilledCell {
  if (typeof cell !== "string" || cell.length === 10) return cell;
  const iso = readTimestamp(cell)?.iso;
  return iso?.endsWith("T00:00:00.000Z") ? iso.slice(0, 10) : cell;
}
