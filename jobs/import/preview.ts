/**
 * The preview of an import: every row is judged, nothing is stored. The counts are the job's result; the rejected rows go into files of this
 * run's own name, as lists of errors may be long.
 */
import { shownRow } from "../../core/jobs/import-columns.ts";
import { limits } from "../../core/values/limits.ts";
import type { Json } from "../../core/values/json.ts";
import type { Run } from "../../core/plans/ports.ts";
import type { JobContext } from "../job/job-context.ts";
import { createJudge } from "./judge-rows.ts";
import { openRejectedRows, type RejectedRow, type RejectedRows } from "./rejected-rows.ts";
import type { FileRow } from "./row-batches.ts";
import { textsOf } from "./row-fault.ts";
import { type UploadedRows, withUploadedRows } from "./uploaded-rows.ts";

/** What a completed preview says of itself. */
export interface PreviewResult {
  readonly state: "preview_ok" | "preview_error";
  readonly summary: Summary;
  /** JSON for import-status: `{errors, summary}`. */
  readonly errors: string;
  /** The workbook for import-errors. */
  readonly rejected: string;
  readonly [name: string]: Json;
}

/** Rows; together they are all of them. */
type Summary = { valid: number; invalid: number; skip: number };

/** Rejects with `invalidFile` and `notFound`. */
export function previewImport(run: Run, context: JobContext): Promise<PreviewResult> {
  return withUploadedRows(run, context, async (uploaded) => {
    const { project, files, session } = context;
    const key = `uploads/${project.name}/${run.job.id}.${run.id}`;
    const rejected = openRejectedRows({ files, key: `${key}.xlsx` }, { context, uploaded });
    try {
      const list = createErrorList(uploaded.headings);
      const summary = await judgeAll(run, context, { uploaded, rejected, list });
      await rejected.finish(session);
      const text = JSON.stringify({ errors: list.errors, summary });
      await files.write(`${key}.json`, [new TextEncoder().encode(text)]);
      return {
        state: summary.invalid === 0 ? "preview_ok" : "preview_error",
        summary,
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
}

async function judgeAll(
  run: Run,
  { entity, session, newId, scope }: JobContext,
  { uploaded, rejected, list }: Judging,
): Promise<Summary> {
  const { plan, columns, totalRows } = uploaded;
  const judge = createJudge({ entity, plan, columns, newId, scope, lock: false });
  const summary: Summary = { valid: 0, invalid: 0, skip: 0 };
  let processed = 0;
  run.progress(0, totalRows);
  for await (const rows of uploaded.batches()) {
    run.signal.throwIfAborted();
    const verdicts = await judge(session, rows);
    const faulty: RejectedRow[] = [];
    for (const [at, verdict] of verdicts.entries()) {
      const row = rows[at]!;
      if (verdict.kind === "skip") summary.skip += 1;
      else if (verdict.kind !== "invalid") summary.valid += 1;
      else {
        summary.invalid += 1;
        list.add(row, textsOf(verdict.faults));
        faulty.push({ values: row.values, faults: verdict.faults });
      }
    }
    await rejected.add(faulty);
    processed += rows.length;
    run.progress(processed, totalRows);
  }
  return summary;
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
