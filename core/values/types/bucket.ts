/** Groups of values: spans of time, parts of dates, and bins of numbers. Statements carry them, engines print them. */
import type { Offset } from "../time-zones.ts";

export const spanUnits = ["year", "quarter", "month", "week", "day", "hour"] as const;
export type SpanUnit = (typeof spanUnits)[number];

/** Monday is weekday 1. */
export const dateParts = ["month", "weekday", "day", "hour"] as const;
export type DatePart = (typeof dateParts)[number];

export type Bucket =
  /**
   * The first day of the span, or the instant at which the hour begins. `offsets`: of the time zone, for every value
   * that there is; empty = the values are read as they are, in UTC.
   */
  | { readonly kind: "span"; readonly unit: SpanUnit; readonly offsets: readonly Offset[] }
  | { readonly kind: "part"; readonly part: DatePart; readonly offsets: readonly Offset[] }
  /** The lower bound of the bin. `width`: canonical digits, above zero. */
  | { readonly kind: "bin"; readonly width: string };
