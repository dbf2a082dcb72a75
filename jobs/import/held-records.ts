/**
 * Finds the rows of a file whose records clients hold with lock/acquire; an import has no token. Other writes take
 * record locks so that no lock is granted while they run. An import may change too many records for that: it looks when
 * it judges a row, and a commit looks again at all of them before it ends.
 */
import { past } from "../../core/callers/scoped-session.ts";
import { formsBy } from "../../core/locks/lock-names.ts";
import type { ImportPlan } from "../../core/plans/import-plan.ts";
import type { Queries } from "../../core/query/session.ts";
import type { KeyValue } from "../../core/values/types/key.ts";
import type { JobContext } from "../job/job-context.ts";
import type { FileRow } from "./row-batches.ts";
import type { Verdict } from "./row-verdict.ts";

/** A row that changes the record with this key. */
export interface ChangingRow {
  readonly rowIndex: number;
  readonly key: KeyValue;
}

/** Why rows cannot be stored, by their row number. Rejects with `unavailable` while the locks are out of reach. */
export type FindHeld = (
  queries: Queries,
  rows: readonly ChangingRow[],
) => Promise<ReadonlyMap<number, string>>;

const none: ReadonlyMap<number, string> = new Map();

export function heldRecords(
  { project: { locks }, log }: Pick<JobContext, "project" | "log">,
  { write }: ImportPlan,
): FindHeld {
  if (locks === null) return async () => none;
  // Nobody waits for a job.
  const request = { tokens: [], share: () => "", deadlineAtMs: Infinity, log };
  return async (queries, rows) => {
    const db = formsBy((statement) => past(queries, "lockNames").native(statement));
    const keys = rows.map(({ key }) => key);
    const holders = await locks(request).within([], db).holdersOf(write, keys);
    return new Map(
      rows.flatMap(({ rowIndex }, at) => {
        const holder = holders[at];
        return holder ? [[rowIndex, reasonOf(holder.owner)]] : [];
      }),
    );
  };
}

const reasonOf = (owner: string | null): string =>
  `the record is locked by another client${owner === null ? "" : `, ${owner}`}`;

/** The rows of a batch that change a record. */
export const changingRows = (
  rows: readonly FileRow[],
  verdicts: readonly Verdict[],
): ChangingRow[] =>
  rows.flatMap(({ rowIndex }, at) => {
    const verdict = verdicts[at]!;
    return verdict.kind === "change" ? [{ rowIndex, key: verdict.key }] : [];
  });
