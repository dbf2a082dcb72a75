/**
 * The preview of an import: every row is judged, nothing is stored. The counts are the job's result. The rejected rows
 * go into files named after this run, as lists of errors can be long.
 */
import { shownRow } from "../../core/jobs/import-columns.ts";
import { limits } from "../../core/values/limits.ts";
import type { Json } from "../../core/values/json.ts";
import type { Run } from "../../core/jobs/job.ts";
import type { JobContext } from "../job/job-context.ts";
import { heldRecords } from "./held-records.ts";
import { createJudge } from "./judge-rows.ts";
import { openRejectedRows, type RejectedRow, type RejectedRows } from "./rejected-rows.ts";
import type { FileRow } from "./row-batches.ts";
import { textsOf } from "./row-fault.ts";
import type { Verdict } from "./row-verdict.ts";
import { type UploadedRows, withUploadedRows } from "./uploaded-rows.ts";

/** The result of a completed preview. */
export interface PreviewResult {
  readonly state: "preview_ok" | "preview_error";
  /** Rows: valid, invalid and skip are all of them. */
  readonly summary: { readonly valid: number; readonly invalid: number; readonly skip: number };
  /** The valid rows. */
  readonly changes: { readonly insert: number; readonly update: number };
  /** JSON for import-status: `{errors, summary, changes, outcomes}`; without errors where there are none. */
  readonly errors: string;
  /** The workbook for import-errors. */
  readonly rejected: string;
  readonly [name: string]: Json;
}

/** Rows by their planned outcome. */
type Counts = { insert: number; update: number; skip: number; invalid: number };

/** Rejects with `invalidFile` and `notFound`. */
export function previewImport(run: Run, context: JobContext): Promise<PreviewResult> {
  return withUploadedRows(run, context, async (uploaded) => {
    const { project, files, session } = context;
    const key = `uploads/${project.name}/${run.job.id}.${run.id}`;
    const rejected = openRejectedRows({ files, key: `${key}.xlsx` }, { context, uploaded });
    try {
      const list = createErrorList(uploaded.headings);
      const outcomes = createOutcomes();
      const judging = { uploaded, rejected, list, outcomes };
      const { insert, update, skip, invalid } = await judgeAll(run, context, judging);
      const summary = { valid: insert + update, invalid, skip };
      const changes = { insert, update };
      await rejected.finish(session);
      const isGood = invalid === 0;
      const text = JSON.stringify({
        ...(!isGood && { errors: list.errors }),
        summary,
        changes,
        outcomes: outcomes.runs,
      });
      await files.write(`${key}.json`, [new TextEncoder().encode(text)]);
      return {
        state: isGood ? "preview_ok" : "preview_error",
        summary,
        changes,
        errors: `${key}.json`,
        rejected: `${key}.xlsx`,
      };
    } catch (error) {
      await rejected.abandon();
      throw error;
    }
  });
}

interface Judging {
  readonly uploaded: UploadedRows;
  readonly rejected: RejectedRows;
  readonly list: ReturnType<typeof createErrorList>;
  readonly outcomes: ReturnType<typeof createOutcomes>;
}

/** The planned outcome of a row. */
const outcomeOf = {
  new: "insert",
  change: "update",
  skip: "skip",
  invalid: "invalid",
} as const satisfies Record<Verdict["kind"], keyof Counts>;

async function judgeAll(
  run: Run,
  context: JobContext,
  { uploaded, rejected, list, outcomes }: Judging,
): Promise<Counts> {
  const { entity, session, newId, caller, scope, words } = context;
  const { plan, columns, totalRows } = uploaded;
  const findHeld = heldRecords(context, plan);
  const about = { entity, plan, columns, newId, caller, scope, words };
  const judge = createJudge({ ...about, lock: false, foresees: true, findHeld });
  const counts: Counts = { insert: 0, update: 0, skip: 0, invalid: 0 };
  let processed = 0;
  run.progress(0, totalRows);
  for await (const rows of uploaded.batches()) {
    run.signal.throwIfAborted();
    const verdicts = await judge(session, rows);
    const faulty: RejectedRow[] = [];
    for (const [at, verdict] of verdicts.entries()) {
      const row = rows[at]!;
      const outcome = outcomeOf[verdict.kind];
      counts[outcome] += 1;
      outcomes.add(row.rowIndex, outcome);
      if (verdict.kind !== "invalid") continue;
      list.add(row, textsOf(verdict.faults));
      faulty.push({ values: row.values, faults: verdict.faults });
    }
    await rejected.add(faulty);
    processed += rows.length;
    run.progress(processed, totalRows);
  }
  return counts;
}

/** The outcome of every row, as runs of rows with the same one; empty rows in between do not end a run. */
function createOutcomes() {
  const runs: { from: number; to: number; outcome: string }[] = [];
  let isFull = false;
  return {
    runs,
    add(rowIndex: number, outcome: string): void {
      const last = runs.at(-1);
      isFull ||= last?.outcome !== outcome && runs.length >= limits.importOutcomesMax;
      if (isFull) return;
      if (last?.outcome === outcome) last.to = rowIndex;
      else runs.push({ from: rowIndex, to: rowIndex, outcome });
    },
  };
}

/** The first errors, as import-status shows them. */
function createErrorList(headings: readonly (string | null)[]) {
  const errors: { rowIndex: number; rowData: Record<string, Json>; messages: readonly string[] }[] =
    [];
  let lengthLeft: number = limits.shownRowsLengthMax;
  return {
    errors,
    add({ rowIndex, values }: FileRow, messages: readonly string[]): void {
      if (errors.length >= limits.importErrorsMax || lengthLeft <= 0) return;
      const error = { rowIndex, rowData: shownRow(headings, values), messages };
      lengthLeft -= JSON.stringify(error).length;
      errors.push(error);
    },
  };
}
