/**
 * Files of the records of one project, beside their rows: where they are kept, and the statements about them that do not
 * belong to a request's transaction. Removes what has expired.
 */
import { past, scopedSession } from "../callers/scoped-session.ts";
import { wholeScope } from "../callers/scope.ts";
import type { Db } from "../plans/db-port.ts";
import type { Files } from "../plans/files-port.ts";
import type { FileReport } from "../plans/observer.ts";
import type { Runtime } from "../plans/runtime.ts";
import { limits } from "../values/limits.ts";
import { withTimeout } from "../values/with-timeout.ts";
import { fileLimits } from "../values/file-limits.ts";
import {
  expiredFiles,
  fileKey,
  type FileLedger,
  findFiles,
  forgetFile,
  giveUpClaims,
  giveUpFile,
  type KnownFile,
} from "./file-ledger.ts";

export interface RecordFiles extends Pick<Runtime, "hashing"> {
  readonly storage: Files;
  /** For some statements: its deadline begins now, because an upload may take longer than a request's session. */
  open(): Promise<FileLedger>;
  /** Tells what became of a file. */
  readonly report: (report: FileReport) => void;
  /**
   * Removes claims of undone writes, as far as they are still this owner's; they are given up before the first is
   * removed. Resolves with their ids, or null at `untilMs`, when it goes on. Never rejects: what it leaves expires.
   */
  discard(
    ids: readonly string[],
    options: { readonly owner: string; readonly untilMs: number },
  ): Promise<readonly string[] | null>;
  /** Removes expired files now and periodically, from now on. */
  start(): void;
  /** Removes those that have expired. Resolves with their number; rejects when the database or the storage is away. */
  sweep(): Promise<number>;
  stop(): void;
  /**
   * For a process that ends with its request: ends what it discards, and if it stored a file, removes expired ones until
   * `untilMs`. Never rejects.
   */
  afterRequest(untilMs: number): Promise<void>;
}

export interface RecordFilesOptions extends Pick<Runtime, "now" | "log" | "hashing"> {
  readonly project: string;
  readonly db: Db;
  readonly storage: Files;
  readonly report: RecordFiles["report"];
  /** Whether some table of the project has files, as far as it is known. */
  readonly hasFiles: () => boolean;
}

export function createRecordFiles({
  project,
  db,
  storage,
  hasFiles,
  now,
  log,
  hashing,
  report,
}: RecordFilesOptions): RecordFiles {
  let timer: ReturnType<typeof setInterval> | undefined;
  let isAway = false;
  let hasUploaded = false;
  let sweeping: Promise<unknown> | null = null;
  const discarding = new Set<Promise<unknown>>();

  async function open(): Promise<FileLedger> {
    const session = db.session(performance.now() + limits.requestDeadlineMs);
    const ledger = await session.ledger("files");
    return { ledger, own: past(scopedSession(session, wholeScope), "fileLedger") };
  }

  /** In this order: a row without a file is found again, a file without a row never. */
  async function remove(files: FileLedger, file: KnownFile): Promise<void> {
    await storage.remove(fileKey(file));
    await forgetFile(files, file.id);
    report({ outcome: "removed", bytes: file.bytes });
  }

  async function discard(ids: readonly string[], owner: string): Promise<readonly string[] | null> {
    try {
      const files = await open();
      await giveUpClaims(files, ids, { owner, now: now() });
      const known = await findFiles(files, ids, { lock: false });
      // The others are of records, or claims again.
      const gone = [...known.values()].filter((file) => file.owner === null && !file.record);
      for (const file of gone) await remove(files, file);
      return gone.map(({ id }) => id);
    } catch (error) {
      log.warn({ project, err: error }, "Files of an undone write could not be removed");
      return null;
    }
  }

  async function sweep(): Promise<number> {
    let removed = 0;
    for (;;) {
      const files = await open();
      const limit = fileLimits.sweptAtOnce;
      const some = await expiredFiles(files, { project, now: now(), limit });
      for (const file of some) {
        if (!(await giveUpFile(files, { id: file.id, now: now() }))) continue;
        await remove(files, file);
        removed++;
      }
      if (some.length < limit) return removed;
    }
  }

  function look(): void {
    if (sweeping !== null || !hasFiles()) return;
    sweeping = sweep()
      .then(() => (isAway = false))
      .catch((error: unknown) => {
        if (!isAway) log.warn({ project, err: error }, "Expired files could not be removed");
        isAway = true;
      })
      .finally(() => (sweeping = null));
  }

  return {
    storage,
    hashing,
    open,
    report(one) {
      hasUploaded ||= one.outcome === "uploaded";
      report(one);
    },
    async discard(ids, { owner, untilMs }) {
      const work = discard(ids, owner);
      discarding.add(work);
      void work.finally(() => discarding.delete(work));
      const timeoutMs = Math.max(untilMs - performance.now(), 0);
      return withTimeout(work, { timeoutMs, onTimeout: () => null });
    },
    sweep,
    start() {
      timer = setInterval(look, limits.fileLookMs);
      timer.unref?.();
      look();
    },
    stop: () => clearInterval(timer),
    async afterRequest(untilMs) {
      if (hasUploaded) look();
      const work = Promise.all([sweeping, ...discarding]);
      const timeoutMs = Math.max(untilMs - performance.now(), 0);
      await withTimeout(work, { timeoutMs, onTimeout: () => undefined });
    },
  };
}
