/** Opens the place where files are kept, by STORAGE_URL. */
import { resolve } from "node:path";
import { AppError } from "../../core/values/errors.ts";
import type { Files } from "../../core/plans/files-port.ts";
import type { Log } from "../../core/plans/log-port.ts";
import type { Storage } from "../../core/jobs/storage-url.ts";
import { createFolderFiles } from "./folder-files.ts";

/**
 * Does not wait for a bucket, which can become reachable later. `log` soon gets the reason if the bucket cannot be
 * used, so that a wrong key is found before the first client needs it.
 */
export async function openFiles(storage: Storage, log?: Log): Promise<Files> {
  if (storage.kind === "folder") return createFolderFiles(resolve(storage.path));
  const { createBucketFiles } = await import("./bucket-files.ts");
  const files = createBucketFiles(storage);
  if (log) checkFiles(files, { storage, log });
  return files;
}

/** Logs soon if the files cannot be used, and why. A folder is not checked, as it is made when needed. */
export function checkFiles(files: Files, { storage, log }: { storage: Storage; log: Log }): void {
  if (storage.kind === "folder") return;
  void checkReadable(files).catch((error: unknown) => report(error, { storage, log }));
}

async function checkReadable(files: Files): Promise<void> {
  for await (const _ of files.list("")) return;
}

function report(error: unknown, { storage, log }: { storage: { url: string }; log: Log }): void {
  const err = error instanceof AppError ? error.cause : error;
  log.error({ bucket: storage.url, err }, "The bucket of STORAGE_URL cannot be used");
}
