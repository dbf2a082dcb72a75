/**
 * core's `Files` in a bucket of an S3-compatible service, which shows an object only when it is complete. Services and
 * workers on several machines can share it. Needs only `fetch` and Web Crypto.
 */
import { notFound, unavailable } from "../../core/values/errors.ts";
import { bucketLimits } from "./bucket/bucket-limits.ts";
import type { FileInfo, Files } from "../../core/plans/files-port.ts";
import { withTimeout } from "../../core/values/with-timeout.ts";
import { removeAbandoned } from "./bucket/abandoned.ts";
import { elementsIn, textIn } from "./bucket/answers.ts";
import { type BucketAddress, createBucketClient } from "./bucket/client.ts";
import { upload } from "./bucket/upload.ts";
import { checkedKey, isKey, limitedBytes } from "./file-rules.ts";

/** A bucket, and the part of it that is used. */
export interface BucketOptions extends BucketAddress {
  /** What every key begins with: empty, or ends with `/`. */
  readonly prefix: string;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Sends nothing before the first call. Calls end within `bucketLimits.answerMs` plus the time for their bytes. */
export function createBucketFiles({ prefix, ...address }: BucketOptions): Files {
  const client = createBucketClient(address);
  let hasCleaned = false;

  /** Once, during the first write. Without the right to list uploads, the bucket's own rules have to do it. */
  function clean(): void {
    if (hasCleaned) return;
    hasCleaned = true;
    removeAbandoned(client, prefix).catch(() => undefined);
  }

  const nameOf = (key: string): string => prefix + checkedKey(key);

  async function info(key: string): Promise<FileInfo | null> {
    const { status, headers } = await client.ask({ method: "HEAD", key: nameOf(key) });
    return status === 404 ? null : { key, ...detailsIn(headers) };
  }

  return {
    info,
    async write(key, bytes, { maxBytes = Infinity } = {}) {
      const name = nameOf(key);
      clean();
      await upload(client, name, limitedBytes(bytes, maxBytes));
      const written = await info(key);
      if (!written) throw unavailable("The file could not be stored");
      return written;
    },
    async read(key, range) {
      const headers = range && { range: `bytes=${range.start}-${range.end}` };
      const answer = await client.open({
        method: "GET",
        key: nameOf(key),
        ...(headers && { headers }),
      });
      if (!answer) throw notFound("Unknown file");
      if (range && answer.status !== 206) {
        await answer.body?.cancel();
        throw unavailable(
          "The file storage is not reachable; try again later",
          new Error("The bucket does not support range requests"),
        );
      }
      return bodyOf(answer);
    },
    async remove(key) {
      await client.ask({ method: "DELETE", key: nameOf(key) });
    },
    async *list(below) {
      let token: string | null = "";
      while (token !== null) {
        const query = { "list-type": "2", prefix: prefix + below };
        const next: Record<string, string> = token === "" ? {} : { "continuation-token": token };
        const { text } = await client.ask({ method: "GET", query: { ...query, ...next } });
        for (const found of elementsIn(text, "Contents")) {
          const key = textIn(found, "Key")?.slice(prefix.length) ?? "";
          // Skips objects that the service did not write.
          if (!isKey(key)) continue;
          const modifiedAtMs = Date.parse(textIn(found, "LastModified") ?? "");
          yield { key, bytes: Number(textIn(found, "Size")), modifiedAtMs };
        }
        token =
          textIn(text, "IsTruncated") === "true" ? textIn(text, "NextContinuationToken") : null;
      }
    },
    async close() {},
  };
}

function detailsIn(headers: Headers): Omit<FileInfo, "key"> {
  const bytes = Number(headers.get("content-length"));
  return { bytes, modifiedAtMs: Date.parse(headers.get("last-modified") ?? "") };
}

/** The body; ends with `unavailable` after `bucketLimits.idleMs` without data, or when it is shorter than announced. */
function bodyOf(answer: Response): ReadableStream<Bytes> {
  const reader = (answer.body ?? new Blob([]).stream()).getReader();
  let missing = Number(answer.headers.get("content-length"));
  return new ReadableStream<Bytes>(
    {
      async pull(controller) {
        const step = await next();
        missing -= step.value?.byteLength ?? 0;
        if (!step.done) return controller.enqueue(step.value as Bytes);
        if (missing > 0) throw brokenOff(new Error(`${missing} bytes are missing`));
        controller.close();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );

  async function next() {
    try {
      return await withTimeout(reader.read(), {
        timeoutMs: bucketLimits.idleMs,
        onTimeout: () => {
          throw new Error("No data arrived in time");
        },
      });
    } catch (error) {
      void reader.cancel(error).catch(() => undefined);
      throw brokenOff(error);
    }
  }
}

const brokenOff = (cause: unknown) =>
  unavailable("The transfer of the file was interrupted; try again", cause);
