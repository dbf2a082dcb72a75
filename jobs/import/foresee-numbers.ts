/**
 * Finds the rows of a file that would set a document number which the caller may not send. The session of the commit
 * refuses them as well (`core/numbers/numbering-session.ts`).
 */
import { maySend } from "../../core/numbers/numbering-session.ts";
import { isEmpty } from "../../core/numbers/number-text.ts";
import { findRows, scalarOf } from "../../core/query/find-rows.ts";
import type { Queries } from "../../core/query/session.ts";
import { sourceOf } from "../../core/query/statement.ts";
import { keyText } from "../../core/values/types/key.ts";
import { addMessage } from "./row-case.ts";
import type { StoredRow, VerdictOptions } from "./row-verdict.ts";

type NumbersCheck = (queries: Queries, rows: readonly StoredRow[]) => Promise<void>;

/** Null if the caller may send all numbers of the table. */
export function numbersCheck({ entity, plan, caller }: VerdictOptions): NumbersCheck | null {
  const { table, key } = plan.write;
  const numbers = entity.numbers.get(table.identity) ?? [];
  const columns = numbers.filter((one) => !maySend(one, caller)).map(({ column }) => column);
  if (columns.length === 0) return null;
  const search = { source: sourceOf(table), by: key, columns, lock: false };
  return async (queries, rows) => {
    const keys = rows.flatMap(({ verdict }) => (verdict.kind === "change" ? [verdict.key] : []));
    const found = keys.length === 0 ? null : await findRows(queries, search, keys);
    for (const { one, verdict } of rows)
      for (const column of columns) {
        const sent = verdict.values.get(column);
        const record = verdict.kind === "new" ? undefined : found?.get(keyText(verdict.key))?.[0];
        // A record may be sent the number that it has.
        const isOwn = record
          ? sent === undefined || scalarOf(column, record) === sent
          : isEmpty(sent);
        if (!isOwn)
          addMessage(one, column, "is a number that the service gives; you may not set it");
      }
  };
}
