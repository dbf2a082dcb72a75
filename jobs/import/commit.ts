/**
 * The commit of an import: all rows in one transaction, which also writes the job's row in the ledger. If the job runs
 * several times, even concurrently, one transaction counts: the others wait at the ledger and find its result.
 */
import { AppError } from "../../core/values/errors.ts";
import { claimJob, findJobResult, storeJobResult } from "../../core/jobs/job-ledger.ts";
import { past } from "../../core/callers/scoped-session.ts";
import { keptOnce } from "../../core/totals/kept-session.ts";
import type { Transaction } from "../../core/query/session.ts";
import type { Json } from "../../core/values/json.ts";
import type { Run } from "../../core/jobs/job.ts";
import type { Table } from "../../core/values/types/column.ts";
import type { JobContext } from "../job/job-context.ts";
import { changingRows, type ChangingRow, heldRecords } from "./held-records.ts";
import { createJudge } from "./judge-rows.ts";
import { openRejectedRows, type RejectedRow, type RejectedRows } from "./rejected-rows.ts";
import type { FileRow } from "./row-batches.ts";
import { textsOf } from "./row-fault.ts";
import type { Verdict } from "./row-verdict.ts";
import { storeRows } from "./store-rows.ts";
import { type UploadedRows, withUploadedRows } from "./uploaded-rows.ts";

/** The result of a commit, also in the ledger. */
export interface CommitResult {
  readonly counts: Counts;
  /** The workbook for import-errors. */
  readonly rejected: string;
  readonly [name: string]: Json;
}

/** Rows; together they are all of them. */
type Counts = { inserted: number; updated: number; skipped: number; failed: number };

/** Tries of the transaction when somebody else stores a record that did not exist a moment before. */
const triesMax = 2;

/**
 * The result of this run or an earlier one. Stores nothing if it rejects: `validationFailed`, or the database's error.
 */
export async function commitImport(run: Run, context: JobContext): Promise<Json> {
  const { project, entity, session } = context;
  const ledger = await session.ledger("jobs");
  const entry = { ledger, jobId: run.job.id };
  const earlier = await findJobResult(past(session, "jobLedger"), entry);
  const result = earlier ?? (await commitOnce(run, context, entry));
  // Also for an earlier run, which can have died before it did this.
  const written = new Set(earlier === null ? session.written : []);
  if (entity.write) written.add(entity.write.table);
  // The tables that its handlers wrote with their own SQL are not known any more.
  if (entity.handlers.size > 0) written.add("unknown");
  await project.cache.wrote(written);
  return result;
}

interface LedgerEntry {
  readonly ledger: Table;
  readonly jobId: string;
}

function commitOnce(run: Run, context: JobContext, entry: LedgerEntry): Promise<Json> {
  const { session } = context;
  return withUploadedRows(run, context, async (uploaded) => {
    const { write, locksTable } = uploaded.plan;
    const shown = forwardProgress(run);
    const attempt = (): Promise<Json> =>
      session.tx(
        async (tx) => {
          const own = past(tx, "jobLedger");
          await claimJob(own, { ...entry, now: context.now() });
          const result = await keptOnce(tx, () => storeAll(tx, { run: shown, context, uploaded }));
          await storeJobResult(own, { ...entry, result });
          run.signal.throwIfAborted();
          return result;
        },
        { alone: locksTable ? write.table : undefined, findsMany: true },
      );
    for (let tries = 1; ; tries++) {
      try {
        return await attempt();
      } catch (error) {
        // Another run of the job was first, or the answer to this one's COMMIT was lost.
        const earlier = await findJobResult(past(session, "jobLedger"), entry).catch(() => null);
        if (earlier !== null) return earlier;
        const isTaken = error instanceof AppError && error.kind === "duplicateEntry";
        if (!isTaken || tries >= triesMax) throw error;
      }
    }
  });
}

/** A transaction that begins again does not take progress back. */
function forwardProgress(run: Run): Run {
  let most = 0;
  return {
    ...run,
    progress(processed, total) {
      most = Math.max(most, processed);
      run.progress(most, total);
    },
  };
}

interface Storing {
  readonly run: Run;
  readonly context: JobContext;
  readonly uploaded: UploadedRows;
}

async function storeAll(tx: Transaction, storing: Storing): Promise<CommitResult> {
  const { run, context, uploaded } = storing;
  const { files, project, newId } = context;
  const key = `uploads/${project.name}/${run.job.id}.${newId()}.xlsx`;
  const rejected = openRejectedRows({ files, key }, { context, uploaded });
  try {
    const counts = await storeBatches(tx, storing, rejected);
    // Before the COMMIT: a result that names the file must not be without it.
    await rejected.finish(tx);
    return { counts, rejected: key };
  } catch (error) {
    await rejected.abandon();
    throw error;
  }
}

async function storeBatches(
  tx: Transaction,
  { run, context, uploaded }: Storing,
  rejected: RejectedRows,
): Promise<Counts> {
  const { caller, scope, entity, newId, now, log, words } = context;
  const { plan, columns, totalRows } = uploaded;
  const { job, signal } = run;
  const about = { caller, scope, entity, plan, columns, words };
  const findHeld = heldRecords(context, plan);
  const judge = createJudge({ ...about, newId, lock: true, foresees: false, findHeld });
  const options = { ...about, newId, now, log, jobId: job.id, signal };
  const store = storeRows(options);
  const counts: Counts = { inserted: 0, updated: 0, skipped: 0, failed: 0 };
  const changing: (readonly ChangingRow[])[] = [];
  let processed = 0;
  run.progress(0, totalRows);
  for await (const rows of uploaded.batches()) {
    run.signal.throwIfAborted();
    const verdicts = await judge(tx, rows);
    refuseInvalid(rows, verdicts);
    if (context.project.locks !== null) changing.push(changingRows(rows, verdicts));
    const {
      inserted,
      updated,
      rejected: refused,
    } = await store(tx, rows, verdicts, (stored) => {
      const done = stored.inserted + stored.updated + stored.rejected.length;
      run.progress(processed + done, totalRows);
    });
    const left = rows.filter((_, at) => verdicts[at]!.kind === "skip");
    counts.inserted += inserted;
    counts.updated += updated;
    counts.failed += refused.length;
    await rejected.add(refused);
    if (plan.strategy === "insert_only") {
      counts.failed += left.length;
      await rejected.add(left.map((row) => existing(row, uploaded)));
    } else {
      counts.skipped += left.length;
    }
    processed += rows.length;
    run.progress(processed, totalRows);
  }
  for (const rows of changing)
    for (const [rowIndex, text] of await findHeld(tx, rows)) throw noLongerValid(rowIndex, text);
  return counts;
}

function existing({ values }: FileRow, { plan, columns }: UploadedRows): RejectedRow {
  const keys = [...plan.upsertKeys.keys()];
  const text = `A record with this ${keys.join(", ")} exists`;
  const place = columns.find(({ column }) => column.name === keys[0])?.place ?? null;
  return { values, faults: [{ text, place }] };
}

/** A row that was valid in the preview: the database can have changed since. */
function refuseInvalid(rows: readonly FileRow[], verdicts: readonly Verdict[]): void {
  for (const [at, verdict] of verdicts.entries()) {
    if (verdict.kind !== "invalid") continue;
    throw noLongerValid(rows[at]!.rowIndex, textsOf(verdict.faults).join("; "));
  }
}

const noLongerValid = (rowIndex: number, why: string): AppError =>
  new AppError(
    "validationFailed",
    `Nothing was stored: row ${rowIndex} is no longer valid (${why})`,
  );
