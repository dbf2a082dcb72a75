/** An uploaded workbook as a job reads it: its columns, and its rows in batches. */
import type { ImportPlan } from "../../core/plans/import-plan.ts";
import { AppError, invalidFile, notFound } from "../../core/values/errors.ts";
import { type FileColumn, readHeadings } from "../../core/jobs/import-columns.ts";
import type { Json } from "../../core/values/json.ts";
import type { Run } from "../../core/jobs/job.ts";
import type { UploadFormat } from "../../core/plans/table-formats.ts";
import { uploadKey } from "../../core/jobs/uploads.ts";
import type { JobContext } from "../job/job-context.ts";
import { InvalidWorkbook } from "../workbook/invalid-workbook.ts";
import type { FileRow } from "./row-batches.ts";
import { readAhead } from "../job/read-ahead.ts";
import { withLocalCopy } from "./local-copy.ts";
import { openRows } from "./open-rows.ts";

/** An upload while a job reads it. */
export interface UploadedRows {
  readonly plan: ImportPlan;
  readonly headings: readonly (string | null)[];
  readonly columns: readonly FileColumn[];
  readonly totalRows: number;
  /** All rows from the first on, with every call. */
  batches(): AsyncGenerator<readonly FileRow[]>;
}

/** Rejects with `notFound` when the upload or the import no longer exists, and with `invalidFile`. */
export async function withUploadedRows<T>(
  { job }: Run,
  { files, project, entity }: JobContext,
  work: (rows: UploadedRows) => Promise<T>,
): Promise<T> {
  const plan = entity.importing;
  if (!plan) throw notFound("This endpoint has no import any more");
  const { upload, totalRows, format } = requestOf(job.request);
  try {
    return await withLocalCopy(
      { files, key: uploadKey(project.name, upload, format) },
      async (path) => {
        const { batchRows } = project;
        const opened = await openRows({
          path,
          bytesMax: plan.fileBytesMax,
          formulas: plan.csvFormulas,
          batchRows,
        });
        try {
          const { headings } = opened;
          const { known: columns } = readHeadings(plan, headings);
          const batches = () => readAhead(opened.batches());
          return await work({ plan, headings, columns, totalRows, batches });
        } finally {
          await opened.close();
        }
      },
    );
  } catch (error) {
    throw error instanceof InvalidWorkbook ? invalidFile(error.message) : error;
  }
}

function requestOf(request: { readonly [name: string]: Json }): {
  upload: string;
  totalRows: number;
  format: UploadFormat;
} {
  const { upload, totalRows } = request;
  const format = request["format"] === "csv" ? "csv" : "xlsx";
  if (typeof upload === "string" && typeof totalRows === "number")
    return { upload, totalRows, format };
  throw new AppError("internal", "The job has no upload");
}
