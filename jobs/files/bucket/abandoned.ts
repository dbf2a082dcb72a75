/**
 * Removes unfinished uploads of processes that died: their parts are invisible but cost money. A lifecycle rule of the
 * bucket can do the same (docs/storage.md).
 */
import { limits } from "../../../core/values/limits.ts";
import { elementsIn, textIn } from "./answers.ts";
import type { BucketClient } from "./client.ts";

/** Ends uploads below the prefix that got no part for `limits.fileAbandonedMs`. Rejects when the bucket refuses. */
export async function removeAbandoned(client: BucketClient, prefix: string): Promise<void> {
  const before = Date.now() - limits.fileAbandonedMs;
  let marker: Record<string, string> | null = {};
  while (marker) {
    const query: Record<string, string> = { uploads: "", prefix, ...marker };
    const { text } = await client.ask({ method: "GET", query });
    for (const found of elementsIn(text, "Upload")) {
      const [key, uploadId] = [textIn(found, "Key"), textIn(found, "UploadId")];
      // Some services compare the prefix loosely, or not at all.
      if (key === null || uploadId === null || !key.startsWith(prefix)) continue;
      if (timeIn(found, "Initiated") > before) continue;
      if ((await lastPartAtMs(client, { key, uploadId })) > before) continue;
      await client.ask({ method: "DELETE", key, query: { uploadId } });
    }
    const [key, id] = [textIn(text, "NextKeyMarker"), textIn(text, "NextUploadIdMarker")];
    const isCut = textIn(text, "IsTruncated") === "true" && key !== null && id !== null;
    marker = isCut ? { "key-marker": key, "upload-id-marker": id } : null;
  }
}

/** Milliseconds since 1970; 0 when no part has arrived yet or the upload has ended. A long export takes hours. */
async function lastPartAtMs(
  client: BucketClient,
  { key, uploadId }: { key: string; uploadId: string },
): Promise<number> {
  let last = 0;
  let marker: string | null = "0";
  while (marker !== null) {
    const query: Record<string, string> = { uploadId, "part-number-marker": marker };
    const { text } = await client.ask({ method: "GET", key, query });
    for (const part of elementsIn(text, "Part"))
      last = Math.max(last, timeIn(part, "LastModified"));
    marker = textIn(text, "IsTruncated") === "true" ? textIn(text, "NextPartNumberMarker") : null;
  }
  return last;
}

/** Unreadable times count as now, so the upload is kept. */
function timeIn(xml: string, name: string): number {
  const ms = Date.parse(textIn(xml, name) ?? "");
  return Number.isNaN(ms) ? Date.now() : ms;
}
