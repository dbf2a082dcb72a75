/**
 * The last statements of a transaction that changed recorded tables: files go to the records that got them, changes to
 * the log and to webhooks, and now and then old changes are removed.
 */
import type { ChangeTables } from "../plans/change-tables.ts";
import type { DbTransaction, LedgerName, UnscopedQueries } from "../query/session.ts";
import { limits } from "../values/limits.ts";
import type { Table } from "../values/types/column.ts";
import type { RowChange } from "./change-book.ts";
import { type Author, removeOldChanges, storeChanges } from "./change-log.ts";
import { forgetUpTo } from "./change-order.ts";
import { storeDeliveries } from "./deliveries.ts";
import { settleFiles } from "./settle-files.ts";

/** The service's own tables that recording needs. */
export function ledgersOf({ recorded }: ChangeTables): readonly LedgerName[] {
  const tables = [...recorded.values()];
  return [
    ...(tables.some(({ isLogged }) => isLogged) ? (["changes", "change_order"] as const) : []),
    ...(tables.some(({ webhooks }) => webhooks.length > 0) ? (["deliveries"] as const) : []),
    ...(tables.some(({ files }) => files !== null) ? (["files"] as const) : []),
  ];
}

/** Of this process, which recorded changes. */
let requests = 0;

interface Recorded {
  readonly changes: readonly RowChange[];
  readonly author: Author;
  /** Null: it is not among `ledgersOf`. Throws if it could not be made. */
  readonly ledger: (name: LedgerName) => Table | null;
}

export async function storeRecorded(
  tx: DbTransaction,
  { changes, author, ledger: ledgerOf }: Recorded,
): Promise<void> {
  await settleFiles(changes, {
    open: () => ({ ledger: ledgerOf("files")!, own: tx as unknown as UnscopedQueries }),
    now: author.now(),
  });
  if (changes.some(({ recorded: { webhooks } }) => webhooks.length > 0))
    await storeDeliveries(tx, { ledger: ledgerOf("deliveries")!, changes, author });
  const logged = new Set(changes.flatMap(({ recorded }) => (recorded.isLogged ? recorded : [])));
  if (logged.size === 0) return;
  const ledger = ledgerOf("changes")!;
  if (requests++ % limits.changesSweepEvery === 0) {
    const order = ledgerOf("change_order");
    for (const recorded of logged) {
      const place = await removeOldChanges(tx, { ledger, recorded, now: author.now() });
      if (order && place > 0) await forgetUpTo(tx, order, place);
    }
  }
  await storeChanges(tx, { ledger, changes, author });
}
