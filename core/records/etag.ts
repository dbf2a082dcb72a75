/**
 * The version of a record, as ETag and If-Match carry it: the time of its last update, or of its creation if it was
 * never updated. If that column is missing, a hash of the record replaces it. If it stores whole seconds only, the hash
 * is added, since two changes could share a tag.
 */
import type { Action } from "../calls/action.ts";
import type { ReadPlan } from "../plans/read-plan.ts";
import type { Column } from "../values/types/column.ts";
import { AppError, invalidPayload } from "../values/errors.ts";
import { hashOf } from "../values/hash.ts";
import type { Row } from "../values/row.ts";

/** `"2026-01-31T10:00:00.000Z"`, quotes included. `row` holds every column of the plan. */
export function etagOf(row: Row, plan: ReadPlan): string {
  const { create, update } = plan.times;
  if (update === null) return `"${hashOfRow(row, plan)}"`;
  const changed = row[update.name] ?? (create && row[create.name]);
  if (typeof changed !== "string" || !isInstant.test(changed)) return `"${hashOfRow(row, plan)}"`;
  return isCoarse(plan) ? `"${changed}-${hashOfRow(row, plan)}"` : `"${changed}"`;
}

/** SQLite stores any text in a time column, but a header cannot contain every text. */
const isInstant = /^[\w:.+-]+$/;

/** Columns that store whole seconds cannot distinguish two changes within one second. */
const isCoarse = ({ times }: ReadPlan): boolean =>
  Object.values(times).some(
    (column: Column | null) => column !== null && column.fractionDigits < 3,
  );

/** Rejects (412) unless the header's list of tags names the row's tag, or is `*`. Weak tags never match (RFC 9110). */
export function checkIfMatch(ifMatch: string, row: Row, plan: ReadPlan): void {
  if (ifMatch.trim() === "*") return;
  const current = etagOf(row, plan);
  if (ifMatch.split(",").some((tag) => tag.trim() === current)) return;
  throw new AppError(
    "preconditionFailed",
    "The record was changed after it was read; read it again",
  );
}

/** Rejects If-Match of a write that compares no version: ignored, it would let changes of others be overwritten. */
export function refuseIfMatch(
  ifMatch: string | null,
  { name, mode, headers }: Pick<Action, "name" | "mode" | "headers">,
): void {
  if (ifMatch === null || mode !== "writes" || headers.has("If-Match")) return;
  throw invalidPayload(
    `${name} takes no If-Match, the version of one stored record; bulk-update and bulk-delete take etags in the body, and steps of a batch take if_match`,
  );
}

/** Of the row's values in the plan's order. */
const hashOfRow = (row: Row, plan: ReadPlan): string =>
  hashOf(JSON.stringify([...plan.columns.keys()].map((name) => row[name] ?? null)));
