/**
 * The version of a record, as ETag and If-Match carry it: its updated_at, or created_at while it was never updated.
 * Where that column is missing or keeps whole seconds only, two changes could share a tag, so a hash of the record
 * stands in or is added.
 */
import type { ReadPlan } from "../plans/entity.ts";
import type { Column } from "../values/column.ts";
import { AppError } from "../values/errors.ts";
import { hashOf } from "../values/hash.ts";
import type { Row } from "../plans/ports.ts";

/** `"2026-01-31T10:00:00.000Z"`, quotes included. `row` holds every column of the plan. */
export function etagOf(row: Row, plan: ReadPlan): string {
  if (plan.updatedAt === null) return `"${hashOfRow(row, plan)}"`;
  const changed = row[plan.updatedAt.name] ?? (plan.createdAt && row[plan.createdAt.name]);
  if (typeof changed !== "string" || !isInstant.test(changed)) return `"${hashOfRow(row, plan)}"`;
  return isCoarse(plan) ? `"${changed}-${hashOfRow(row, plan)}"` : `"${changed}"`;
}

/** SQLite keeps any text in a column of times, and a header does not take every text. */
const isInstant = /^[\w:.+-]+$/;

/** Columns that keep whole seconds cannot tell two changes of one second apart. */
function isCoarse({ updatedAt, createdAt }: ReadPlan): boolean {
  const keepsMilliseconds = (column: Column): boolean => column.fractionDigits >= 3;
  return ![updatedAt, createdAt].every((column) => column === null || keepsMilliseconds(column));
}

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

/** Of the row's values in the plan's order. */
const hashOfRow = (row: Row, plan: ReadPlan): string =>
  hashOf(JSON.stringify([...plan.columns.keys()].map((name) => row[name] ?? null)));
