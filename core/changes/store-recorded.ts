/**
 * The last statements of a transaction that changed recorded tables: files go to the records that got them, changes to
 * the log and to webhooks, and now and then old changes are removed.
 */
import type { ChangeTables, RecordedTable } from "../plans/change-tables.ts";
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

/** Requests of this process that recorded changes. */
const requests = new WeakMap<ChangeTables, number>();

interface Recorded {
  readonly tables: ChangeTables;
  readonly changes: readonly RowChange[];
  readonly author: Author;
  /** Null: it is not among `ledgersOf`. Throws if it could not be made. */
  readonly ledger: (name: LedgerName) => Table | null;
}

export async function storeRecorded(
  tx: DbTransaction,
  { tables, changes, author, ledger: ledgerOf }: Recorded,
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
  let gone = 0;
  for (const recorded of sweptNow(tables, logged))
    gone = Math.max(gone, await removeOldChanges(tx, { ledger, recorded, now: author.now() }));
  if (gone > 0) await forgetUpTo(tx, ledgerOf("change_order")!, gone);
  await storeChanges(tx, { ledger, changes, author });
}

/** Whether this request removes old changes; if it does not, it counts among those between. */
export function isSweepDue(tables: ChangeTables): boolean {
  const count = requests.get(tables) ?? 0;
  const isDue = count % limits.changesSweepEvery === 0;
  if (!isDue) requests.set(tables, count + 1);
  return isDue;
}

/**
 * The tables whose old changes this request removes: mostly none, else those that it writes, and another one in turn,
 * because some are hardly ever written. Always in the same order, so that requests do not block each other.
 */
function sweptNow(tables: ChangeTables, written: ReadonlySet<RecordedTable>): RecordedTable[] {
  const count = requests.get(tables) ?? 0;
  requests.set(tables, count + 1);
  if (count % limits.changesSweepEvery > 0) return [];
  const all = [...tables.recorded.values()].filter(({ keepDays }) => keepDays !== null);
  const turn = (count / limits.changesSweepEvery) % all.length;
  return all.filter((recorded, at) => at === turn || written.has(recorded));
}
