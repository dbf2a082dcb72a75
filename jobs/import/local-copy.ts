/**
 * An upload as a file of this machine, which the reader of workbooks needs: it looks at the end of the file first. And
 * the time limit for reading it while its client waits.
 */
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeStream } from "node:stream/web";
import type { Files } from "../../core/plans/files-port.ts";
import { invalidFile } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";
import { withTimeout } from "../../core/values/with-timeout.ts";

/** The copy is there while `work` runs. Rejects with `notFound` when there is no such upload any more. */
export async function withLocalCopy<T>(
  { files, key }: { files: Files; key: string },
  work: (path: string) => Promise<T>,
): Promise<T> {
  const bytes = await files.read(key);
  const folder = await mkdtemp(join(tmpdir(), "rowgate-upload-"));
  try {
    const path = join(folder, key.endsWith(".csv") ? "upload.csv" : "upload.xlsx");
    await pipeline(Readable.fromWeb(bytes as NodeStream), createWriteStream(path, { mode: 0o600 }));
    return await work(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The outcome of `reading`; rejects with `invalidFile` after `limits.uploadReadMs`. */
export const withReadTimeout = <T>(reading: Promise<T>): Promise<T> =>
  withTimeout(reading, {
    timeoutMs: limits.uploadReadMs,
    onTimeout: () => {
      throw invalidFile("The file takes too long to read");
    },
  });
