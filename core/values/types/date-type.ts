/** Days without a time: `YYYY-MM-DD`. */
import { isDate, partsOf, readTimestamp } from "../formats.ts";
import {
  accepted,
  defineType,
  edm,
  type FilledCell,
  refused,
  trimmedCell,
  usual,
} from "./type-definition.ts";

const schema = { type: "string", format: "date" } as const;

export const dateType = defineType(usual, {
  accept: (_column, value) =>
    typeof value === "string" && isDate(value)
      ? accepted(value)
      : refused("must be a date in the form YYYY-MM-DD"),
  shownSchema: () => schema,
  acceptedSchema: () => schema,
  edmType: edm("Edm.Date"),
  ruleNames: ["date"],
  bounds: "date",
  fromCell: trimmedCell(dateOfCell),
  cellForm: () => ({ words: "Date, such as 2026-10-31", format: "yyyy-mm-dd", width: 12 }),
  // Date pickers send an instant for a day.
  fromFilter: (text) => partsOf(text)?.day ?? text,
  exportedAs: "date",
  spans: "days",
});

/** `YYYY-MM-DD`, from a date or the beginning of a timestamp; MySQL's zero date is null. */
export function showDate(text: string): string | null {
  if (text.startsWith("0000-00-00")) return null;
  const hasTime = (text[10] === " " && !text.endsWith("BC")) || text[10] === "T";
  return hasTime ? text.slice(0, 10) : text;
}

/** A date with a time of midnight is the date. */
function dateOfCell(cell: FilledCell): FilledCell {
  if (typeof cell !== "string" || cell.length === 10) return cell;
  const iso = readTimestamp(cell)?.iso;
  return iso?.endsWith("T00:00:00.000Z") ? iso.slice(0, 10) : cell;
}
