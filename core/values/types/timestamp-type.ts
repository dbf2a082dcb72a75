/**
 * Instants, kept and shown in UTC: `YYYY-MM-DDTHH:mm:ss.sssZ`, with up to six digits if there are more than
 * milliseconds.
 */
import type { Column } from "./column.ts";
import { finestIso, fractionFault, readTimestamp, timestampText } from "../formats.ts";
import { type Accepted, accepted, defineType, refused, usual } from "./type-definition.ts";

export const timestampType = defineType(usual, {
  accept: acceptTimestamp,
  shownSchema: () => ({ type: "string", format: "date-time" }),
  // Wider than the format "date-time": without a zone it is UTC, a bare date is its midnight.
  acceptedSchema: () => ({
    type: "string",
    pattern: timestampText.source,
    examples: ["2026-10-31T08:15:00Z"],
  }),
  // Milliseconds are always shown.
  edmType: ({ fractionDigits }) => ({
    name: "Edm.DateTimeOffset",
    facets: { Precision: String(Math.max(fractionDigits, 3)) },
  }),
  ruleNames: ["datetime", "timestamp"],
  bounds: "date",
  cellForm: () => ({
    words: "Date and time in UTC, such as 2026-10-31 08:15:00",
    format: "yyyy-mm-dd hh:mm:ss",
    width: 20,
  }),
  exportedAs: "datetime",
  // Without the Z, a longer fraction is a longer text.
  isAbove: (left, right) => String(left).slice(0, -1) > String(right).slice(0, -1),
  isInstant: true,
  spans: "hours",
});

/**
 * ISO 8601 UTC with milliseconds, from `YYYY-MM-DD HH:MM:SS[.ffffff][+00]` or an ISO form; digits after the sixth are
 * cut. MySQL's zero date is null, and a text that is not an instant of the years 1 to 9999 is shown as it is.
 */
export function showTimestamp(text: string): string | null {
  if (text.startsWith("0000-00-00")) return null;
  const end = zoneStart(text);
  const zone = text.slice(end);
  const isUtc = zone === "" || zone === "+00" || zone === "Z";
  if (
    isUtc &&
    end >= 19 &&
    end <= 29 &&
    text[4] === "-" &&
    text[16] === ":" &&
    (end === 19 || text[19] === ".")
  ) {
    const fraction = end === 19 ? "000" : shownFraction(text.slice(20, Math.min(end, 26)));
    return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction}Z`;
  }
  const instant = readTimestamp(text);
  return instant === null ? text : finestIso(instant);
}

/** Three digits, or all up to the last one that is not zero. */
function shownFraction(digits: string): string {
  if (digits.length <= 3) return digits.padEnd(3, "0");
  return digits.slice(0, 3) + digits.slice(3).replace(/0+$/, "");
}

/** The start of a timestamp's zone: after the seconds and their fraction. */
function zoneStart(text: string): number {
  let end = 19;
  while (end < text.length && (text[end] === "." || (text[end]! >= "0" && text[end]! <= "9")))
    end++;
  return Math.min(end, text.length);
}

function acceptTimestamp(column: Column, value: unknown): Accepted {
  const instant = typeof value === "string" ? readTimestamp(value) : null;
  if (instant === null) return refused("must be a date and time in the form YYYY-MM-DDTHH:mm:ssZ");
  const fault = fractionFault(instant.fraction, column.fractionDigits);
  if (fault !== null) return refused(fault);
  const { span } = column;
  // ISO texts of four-digit years sort by time.
  return span !== null && (instant.iso < span.first || instant.iso > span.last)
    ? refused(`must be between ${span.first} and ${span.last}`)
    : accepted(finestIso(instant));
}
