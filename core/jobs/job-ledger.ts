/**
 * Results of commits in the table `rowgate_jobs`, written in the transaction that stored the rows, so the entry exists
 * exactly when the rows do. It takes precedence over the state in the queue.
 */
import type { Table } from "../values/types/column.ts";
import type { Queries } from "../query/session.ts";
import type { Json } from "../values/json.ts";
import { equals, sourceOf, selectFrom } from "../query/statement.ts";
import { insertInto, setTo, updateRow } from "../query/write-statements.ts";

const columnOf = (ledger: Table, name: "job_id" | "result" | "finished_at") => {
  const column = ledger.columns.get(name);
  if (!column) throw new Error(`The table ${ledger.name} has no column ${name}`);
  return column;
};

/** The stored result of the job; null when there is none. */
export async function findJobResult(
  queries: Queries,
  { ledger, jobId }: { ledger: Table; jobId: string },
): Promise<Json> {
  const result = columnOf(ledger, "result");
  const row = await queries.one(
    selectFrom(sourceOf(ledger), {
      columns: [result],
      where: equals(columnOf(ledger, "job_id"), jobId),
      limit: 1,
    }),
  );
  const text = row?.["result"];
  return typeof text === "string" && text !== "" ? (JSON.parse(text) as Json) : null;
}

/**
 * Takes the job's place in the ledger until the transaction ends: another run of it waits here, then is refused with
 * `duplicateEntry`, or goes on when this one was undone.
 */
export async function claimJob(
  tx: Queries,
  { ledger, jobId, now }: { ledger: Table; jobId: string; now: string },
): Promise<void> {
  const key = columnOf(ledger, "job_id");
  const columns = [key, columnOf(ledger, "finished_at")];
  await tx.insert(insertInto(ledger, { key: [key], columns, rows: [[jobId, now]] }));
}

/** The last write of the transaction. */
export async function storeJobResult(
  tx: Queries,
  { ledger, jobId, result }: { ledger: Table; jobId: string; result: Json },
): Promise<void> {
  const column = columnOf(ledger, "result");
  await tx.updateOne(
    updateRow(ledger, {
      key: [columnOf(ledger, "job_id")],
      keyValue: [jobId],
      set: [setTo(column, JSON.stringify(result))],
    }),
  );
}
