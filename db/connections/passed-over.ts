/**
 * Triggers can skip a row silently (`return null`, `raise(ignore)`). A write that was not executed for all of its rows
 * is rejected and its transaction rolled back, so that it is not reported as successful.
 */
import { AppError } from "../../core/values/errors.ts";
import type { Row } from "../../core/values/row.ts";
import { keyIn, keyIs } from "../../core/query/key-conditions.ts";
import {
  allOf,
  type Condition,
  type Delete,
  type Insert,
  sourceOf,
  type UpdateMany,
  type UpdateOne,
} from "../../core/query/statement.ts";
import type { Execute } from "./execute.ts";

/** The stored rows. Rejects with `rejectedByDatabase` when some of them were not stored. */
export async function insertAll(insert: Insert, execute: Execute): Promise<Row[]> {
  const { rows, matched } = await execute(insert);
  refuseMissing(insert, matched);
  return rows;
}

/** Rejects with `rejectedByDatabase` when fewer rows were stored than were sent. */
export function refuseMissing({ rows, leavesTaken }: Insert, stored: number): void {
  if (stored < rows.length && leavesTaken !== true) throw passedOver();
}

/** The deleted rows, or an empty object for each. Rejects with `rejectedByDatabase` when matching rows still exist. */
export async function deleteAll(statement: Delete, execute: Execute): Promise<Row[]> {
  const { rows, matched } = await execute(statement);
  if (mayPassOver(statement)) await refuseLeft(statement, statement.where, { done: 0, execute });
  return statement.returning.length > 0 ? rows : Array.from({ length: matched }, () => ({}));
}

/** Rejects with `rejectedByDatabase` when more rows match the update than the `done` rows that it changed. */
export async function refuseUnchanged(
  update: UpdateOne | UpdateMany,
  done: number,
  execute: Execute,
): Promise<void> {
  if (!mayPassOver(update)) return;
  const { key, guard } = update;
  const named: Condition =
    update.kind === "update"
      ? keyIs(key, update.keyValue)
      : keyIn(
          key,
          update.rows.map(({ keyValue }) => keyValue),
        );
  await refuseLeft(update, allOf(named, guard)!, { done, execute });
}

/** Whether a trigger of the table can skip rows. */
export const mayPassOver = ({ kind, table }: UpdateOne | UpdateMany | Delete): boolean =>
  table.passesOver?.has(kind === "delete" ? kind : "update") ?? false;

async function refuseLeft(
  { table }: Pick<Delete, "table">,
  where: Condition,
  { done, execute }: { done: number; execute: Execute },
): Promise<void> {
  const { rows } = await execute({ kind: "count", source: sourceOf(table), where });
  if (Number(rows[0]!["count"]) > done) throw passedOver();
}

const passedOver = (): AppError =>
  new AppError("rejectedByDatabase", "The database skipped the record without an error");
