/**
 * The export job: rows from one snapshot of the database go through a writer of `workbook/` into a file, a few batches
 * at a time. Each run writes its own file; the run that completes the job names the file that counts.
 */
import { tableMediaTypes, type TableFormat } from "../../core/plans/table-formats.ts";
import { answeredAs, type Column } from "../../core/values/types/column.ts";
import { notFound } from "../../core/values/errors.ts";
import { exportGrammar, type ExportRequest } from "../../core/lists/export-list.ts";
import { tableValue } from "../../core/plans/export-plan.ts";
import type { Json } from "../../core/values/json.ts";
import type { Row } from "../../core/values/row.ts";
import type { Run } from "../../core/jobs/job.ts";
import type { JobContext } from "../job/job-context.ts";
import { readAhead } from "../job/read-ahead.ts";
import { createPauses } from "../thread/low-priority.ts";
import { createTable } from "../workbook/create-table.ts";
import type { Batch, TableColumn, TableWriter } from "../workbook/table-column.ts";

/** The result of a completed export. */
export interface ExportResult {
  readonly file: string;
  readonly mediaType: string;
  readonly rows: number;
  readonly [name: string]: Json;
}

/** Rejects with `notFound` when the endpoint has no export any more, and with what the database or the files refuse. */
export async function exportRows(
  run: Run,
  { project, entity, session, files, log }: JobContext,
): Promise<ExportResult> {
  const plan = entity.export;
  if (!plan) throw notFound("This endpoint no longer has an export");
  const { language, ...request } = run.job.request;
  const { format, list, shown } = exportGrammar(plan).read(request);
  const { source, where } = list;
  const key = `exports/${project.name}/${run.job.id}.${run.id}.${format}`;
  const table = createTable(format, {
    sheetName: entity.name,
    columns: columnsOf(shown, { format, labelOf: labelsIn(language, entity) }),
    formulas: plan.csvFormulas,
  });
  const rows = await session.longSnapshot(async (snapshot) => {
    const total = await snapshot.count({ kind: "count", source, where });
    const batches = snapshot.stream(list, { batchRows: project.batchRows });
    const cells = shown.map(({ column }) => ({ column, name: answeredAs(column) }));
    const cellOf = format === "jsonl" ? (_: Column, value: Json) => value : tableValue;
    const write = (bytes: AsyncIterable<Uint8Array>) => files.write(key, bytes);
    return writeRows(run, { table, cells, cellOf, batches, total, write });
  });
  if (table.textsCut > 0) {
    const { id: job } = run.job;
    log.warn(
      { job, textsCut: table.textsCut },
      "Texts were truncated to the maximum length of a cell",
    );
  }
  return { file: key, mediaType: tableMediaTypes[format], rows };
}

/** Rows after which requests may have the processor. */
const stepRows = 50;

interface Writing {
  readonly table: TableWriter;
  readonly cells: readonly { readonly column: Column; readonly name: string }[];
  readonly cellOf: (column: Column, value: Json) => Json;
  readonly batches: AsyncIterable<Row[]>;
  readonly total: number;
  write(bytes: AsyncIterable<Uint8Array>): Promise<unknown>;
}

async function writeRows(
  run: Run,
  { table, cells, cellOf, batches, total, write }: Writing,
): Promise<number> {
  let processed = 0;
  run.progress(0, total);
  const pause = createPauses();
  async function* values(): AsyncGenerator<Batch> {
    for await (const rows of readAhead(batches)) {
      run.signal.throwIfAborted();
      for (let at = 0; at < rows.length; at += stepRows) {
        yield rows
          .slice(at, at + stepRows)
          .map((row) => cells.map(({ column, name }) => cellOf(column, row[name] ?? null)));
        pause();
      }
      processed += rows.length;
      run.progress(processed, total);
    }
    run.signal.throwIfAborted();
  }
  await write(table.write(values()));
  return processed;
}

/** Workbooks are for people; lines of JSON are for programs, which use the names of fields. */
function columnsOf(
  shown: ExportRequest["shown"],
  { format, labelOf }: { format: TableFormat; labelOf: ReturnType<typeof labelsIn> },
): TableColumn[] {
  return shown.map(({ column, heading, format: pattern }) => ({
    heading: format === "jsonl" ? column.name : (labelOf(column.name) ?? heading),
    format: pattern ?? undefined,
  }));
}

/** The label of a field in the language of the request that started the job; undefined: it has none. */
function labelsIn(language: Json | undefined, { name, settings }: JobContext["entity"]) {
  const texts = settings.messages.get(String(language));
  return (field: string): string | undefined => texts?.labelOf(name, field);
}
