/**
 * The last statements of a transaction that changed records with files: what a record has got is its own, and what it
 * has no more expires. All of it is undone with the transaction.
 */
import {
  findFiles,
  type FileLedger,
  giveFiles,
  leaveFiles,
  recordHash,
} from "../files/file-ledger.ts";
import { entriesIn } from "../values/types/file-type.ts";
import { imageKey, type RowChange } from "./change-book.ts";

/** A file that a record got, or has no more. */
interface Moved {
  readonly id: string;
  readonly record: string;
  readonly column: string;
  readonly keepDays: number;
}

const dayMs = 86_400_000;

/** `ledger` is called only if files are concerned. `changes`: each row once. */
export async function settleFiles(
  changes: readonly RowChange[],
  { open, now }: { open: () => FileLedger; now: string },
): Promise<void> {
  const got = movedBy(changes, "after", "before");
  const left = movedBy(changes, "before", "after");
  if (got.length + left.length === 0) return;
  const files = open();
  const ids = [...new Set([...got, ...left].map(({ id }) => id))];
  const known = await findFiles(files, ids, { lock: true });
  // Values that somebody else than the service wrote may name files of other records.
  const given = got.filter(({ id, column, record }) => {
    const file = known.get(id);
    const isFree = file?.isWhole && file.owner === null && file.expiresAtMs !== null;
    return isFree && file.column === column && (file.record ?? record) === record;
  });
  const lost = left.filter(({ id, column, record }) => {
    const file = known.get(id);
    return file !== undefined && file.column === column && file.record === record;
  });
  await giveFiles(files, given);
  for (const [keepDays, some] of Map.groupBy(lost, (one) => one.keepDays))
    await leaveFiles(
      files,
      some.map(({ id }) => id),
      new Date(Date.parse(now) + keepDays * dayMs).toISOString(),
    );
}

/** Files that are in one image of a row and not in the other. */
function movedBy(
  changes: readonly RowChange[],
  has: "before" | "after",
  lacks: "before" | "after",
): Moved[] {
  return changes.flatMap((change) => {
    const { files } = change.recorded;
    const [row, other] = [change[has], change[lacks]];
    if (files === null || row === null) return [];
    const record = recordHash(imageKey(change.recorded, row));
    return [...files.columns.keys()].flatMap((column) => {
      const kept = new Set(entriesIn(other?.[column]).map(({ id }) => id));
      return entriesIn(row[column]).flatMap(({ id }) =>
        kept.has(id) ? [] : [{ id, record, column, keepDays: files.keepDays }],
      );
    });
  });
}
