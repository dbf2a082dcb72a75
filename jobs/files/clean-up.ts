/** Removes files that are kept no longer. Runs wherever jobs run: in a worker, or in a service without Redis. */
import { limits } from "../../core/values/limits.ts";
import type { Files } from "../../core/plans/files-port.ts";
import type { Log } from "../../core/plans/log-port.ts";

/** What is removed, and when. */
export interface CleanUpOptions {
  readonly files: Files;
  /** Project to how long its files are kept, in seconds; files of other projects are not touched. */
  readonly ttlSeconds: ReadonlyMap<string, number>;
  readonly log: Log;
}

/** Folders that contain one folder of files per project. */
const folders = ["exports/", "uploads/"];

/** A job ends a moment after its file was written, so files are kept a little longer. */
const graceMs = 60_000;

/** Removes old files now and periodically; `stop` ends that. */
export function startCleanUp(options: CleanUpOptions): { stop: () => void } {
  const cleanUp = () =>
    void removeOld(options, Date.now()).catch((error: unknown) =>
      options.log.warn({ err: error }, "Old files could not be removed"),
    );
  const timer = setInterval(cleanUp, limits.fileLookMs);
  timer.unref?.();
  cleanUp();
  return { stop: () => clearInterval(timer) };
}

/** Resolves with the number of files that it removed. */
export async function removeOld(
  { files, ttlSeconds }: Omit<CleanUpOptions, "log">,
  nowMs: number,
): Promise<number> {
  let removed = 0;
  for (const folder of folders) {
    for await (const { key, modifiedAtMs } of files.list(folder)) {
      const ttl = ttlSeconds.get(key.split("/")[1] ?? "");
      if (ttl === undefined || nowMs - modifiedAtMs <= ttl * 1_000 + graceMs) continue;
      await files.remove(key);
      removed++;
    }
  }
  return removed;
}
