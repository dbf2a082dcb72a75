/** How a list counts the rows behind its pages: exactly, by an estimate, or not at all. */
import { invalidParameter } from "../values/errors.ts";
import type { ReadQueries } from "../callers/session.ts";
import type { Count } from "../query/statement.ts";

export const countModes = ["exact", "estimated", "none"] as const;
export type CountMode = (typeof countModes)[number];

/** Rows in all; null when they were not counted. */
export interface RowCount {
  readonly total: number | null;
  readonly isEstimate: boolean;
}
/** The mode of that name; exact when it is absent. Rejects with Invalid parameter. */
export function parseCountMode(value: unknown): CountMode {
  if (value === undefined || value === null) return "exact";
  const known = countModes.find((mode) => mode === value);
  if (known) return known;
  throw invalidParameter("count must be exact, estimated or none");
}

/** Counts as the mode says; where there is no good estimate, exactly. `none` runs no statement. */
export async function countRows(
  queries: ReadQueries,
  count: Count,
  mode: CountMode,
): Promise<RowCount> {
  if (mode === "none") return { total: null, isEstimate: false };
  const estimate = mode === "estimated" ? await queries.estimate(count) : null;
  if (estimate !== null) return { total: estimate, isEstimate: true };
  return { total: await queries.count(count), isEstimate: false };
}
