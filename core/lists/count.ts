/** How a list counts the rows behind its pages: exactly, by an estimate, or not at all. */
import { described, type Grammar, optional, word } from "../grammar/grammar.ts";
import { invalidParameter } from "../values/errors.ts";
import type { ReadQueries } from "../query/session.ts";
import type { Count } from "../query/statement.ts";

export const countModes = ["exact", "estimated", "none"] as const;
export type CountMode = (typeof countModes)[number];

/** Rows in all; null when they were not counted. */
export interface RowCount {
  readonly total: number | null;
  readonly isEstimate: boolean;
}

/** The mode of that name; exact when it is absent. Rejects with Invalid parameter. */
export const countMode: Grammar<CountMode> = described(
  optional(
    word(countModes, () => invalidParameter("count must be exact, estimated or none")),
    "exact",
  ),
  { default: "exact" },
);

/** Counts in the given mode; exactly if there is no good estimate. `none` runs no statement. */
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
