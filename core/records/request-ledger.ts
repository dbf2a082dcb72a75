/**
 * The rows of the table `rowgate_requests`: one for each request that came with an Idempotency-Key and is under way or
 * has succeeded. The run of a request has a claim on its row. Every change of a row checks the claim, so of two runs of
 * the same request only one can finish. `core/records/idempotency.ts` decides what follows.
 */
import { ledgerColumns } from "../query/ledger-columns.ts";
import type { Table } from "../values/types/column.ts";
import { AppError } from "../values/errors.ts";
import type { Runtime } from "../plans/runtime.ts";
import type { Queries } from "../query/session.ts";
import { allOf, type Condition, equals, sourceOf, selectFrom } from "../query/statement.ts";
import { compares, isOneOf } from "../query/key-conditions.ts";
import { deleteFrom, insertInto, setTo, updateRow } from "../query/write-statements.ts";
import { limits } from "../values/limits.ts";

/** A row's place in the table. */
export interface RequestPlace {
  readonly ledger: Table;
  readonly id: string;
}

export interface RequestRow {
  /** Of the body that came with the key. */
  readonly bodyHash: string;
  /** A new id for each run of the request. */
  readonly claim: string;
  readonly startedAtMs: number;
  /** JSON text; null while the request runs, or if it died. */
  readonly answer: string | null;
}

/** What a run puts into the row when it begins. */
export interface Claim {
  readonly bodyHash: string;
  readonly claim: string;
  /** ISO 8601 UTC with milliseconds. */
  readonly now: string;
  /** Absent: there is none yet. */
  readonly answer?: string;
}

export async function findRequest(
  queries: Queries,
  { ledger, id }: RequestPlace,
): Promise<RequestRow | null> {
  const columns = columnsOf(ledger);
  const row = await queries.one(
    selectFrom(sourceOf(ledger), {
      columns: [columns.body_hash, columns.claim, columns.started_at, columns.answer],
      where: equals(columns.request_id, id),
      limit: 1,
    }),
  );
  return (
    row && {
      bodyHash: String(row["body_hash"]),
      claim: String(row["claim"]),
      startedAtMs: Date.parse(String(row["started_at"])),
      answer: (row["answer"] ?? null) as string | null,
    }
  );
}

/** False: another run was first. */
export async function claimRequest(
  queries: Queries,
  { ledger, id }: RequestPlace,
  { bodyHash, claim, now, answer: text }: Claim,
): Promise<boolean> {
  const { request_id: key, body_hash, claim: owner, started_at, answer } = columnsOf(ledger);
  try {
    await queries.insert(
      insertInto(ledger, {
        key: [key],
        columns: [key, body_hash, owner, started_at, answer],
        rows: [[id, bodyHash, claim, now, text ?? null]],
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof AppError && error.kind === "duplicateEntry") return false;
    throw error;
  }
}

/** Replaces an expired row with a new claim. False: the row has changed since it was `seen`. */
export async function replaceRequest(
  queries: Queries,
  { ledger, id, seen }: RequestPlace & { seen: RequestRow },
  { bodyHash, claim, now }: Claim,
): Promise<boolean> {
  const { request_id: key, body_hash, claim: owner, started_at, answer } = columnsOf(ledger);
  const isAnswered = seen.answer !== null;
  const row = await queries.updateOne(
    updateRow(ledger, {
      key: [key],
      keyValue: [id],
      guard: allOf(equals(owner, seen.claim), {
        kind: "null",
        column: answer,
        negated: isAnswered,
      }),
      set: [
        setTo(body_hash, bodyHash),
        setTo(owner, claim),
        setTo(started_at, now),
        setTo(answer, null),
      ],
    }),
  );
  return row !== null;
}

/** False: another run owns the row, and this one must not finish. */
export async function answerRequest(
  tx: Queries,
  { ledger, id, claim }: RequestPlace & { claim: string },
  text: string,
): Promise<boolean> {
  const { request_id: key, answer } = columnsOf(ledger);
  const row = await tx.updateOne(
    updateRow(ledger, {
      key: [key],
      keyValue: [id],
      guard: unanswered(ledger, claim),
      set: [setTo(answer, text)],
    }),
  );
  return row !== null;
}

/** Removes the row of this claim, which has no answer (or has one). False: there is no such row. */
export async function releaseRequest(
  queries: Queries,
  { ledger, id, claim, isAnswered = false }: RequestPlace & { claim: string; isAnswered?: boolean },
): Promise<boolean> {
  const { request_id: key, claim: owner, answer } = columnsOf(ledger);
  const isEmpty: Condition = { kind: "null", column: answer, negated: isAnswered };
  const where = allOf(equals(key, id), equals(owner, claim), isEmpty)!;
  const rows = await queries.delete(deleteFrom(ledger, { key: [key], where }));
  return rows.length > 0;
}

interface Sweep extends Pick<Runtime, "now" | "log"> {
  readonly ledger: Table;
  /** Rows that the process has added before. */
  readonly count: number;
}

/** After some rows that a process has added, removes expired ones: more than were added since the last time. */
export async function sweepRequests(
  queries: Queries,
  { ledger, count, now, log }: Sweep,
): Promise<void> {
  if (count % limits.idempotencySweepEvery !== 0) return;
  const before = new Date(Date.parse(now()) - limits.idempotencyKeptMs).toISOString();
  const countMax = limits.idempotencySweepMax;
  await removeRequestsBefore(queries, { ledger, before, countMax }).catch((error: unknown) => {
    log.warn({ err: error }, "Old rows of rowgate_requests could not be removed");
  });
}

/** Removes rows that began before that moment, the oldest first, `countMax` at most. */
async function removeRequestsBefore(
  queries: Queries,
  { ledger, before, countMax }: { ledger: Table; before: string; countMax: number },
): Promise<void> {
  const { request_id: key, started_at } = columnsOf(ledger);
  const isOld = compares(started_at, "<", before);
  const rows = await queries.all(
    selectFrom(sourceOf(ledger), {
      columns: [key],
      where: isOld,
      sort: [{ column: started_at, direction: "asc" }],
      limit: countMax,
    }),
  );
  if (rows.length === 0) return;
  const values = rows.map((row) => String(row["request_id"]));
  // A key may have been used again since.
  const where = allOf(isOneOf(key, values), isOld)!;
  await queries.delete(deleteFrom(ledger, { key: [key], where }));
}

const names = ["request_id", "body_hash", "claim", "started_at", "answer"] as const;

const columnsOf = (ledger: Table) => ledgerColumns(ledger, names);

const unanswered = (ledger: Table, claim: string): Condition => {
  const { claim: owner, answer } = columnsOf(ledger);
  return allOf(equals(owner, claim), { kind: "null", column: answer, negated: false })!;
};
