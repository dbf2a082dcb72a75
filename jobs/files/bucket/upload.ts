/**
 * Stores bytes of unknown length under a key: few in one call, more in parts. Only a few parts are sent at a time, so
 * memory does not grow with the file. The key shows nothing before the upload is complete.
 */
import { unavailable } from "../../../core/values/errors.ts";
import { bucketLimits } from "./bucket-limits.ts";
import { escaped, textIn } from "./answers.ts";
import type { BucketClient } from "./client.ts";

/**
 * Resolves when the key contains exactly these bytes. When reading them fails, rejects with that error and removes all
 * parts; if the bucket is unreachable then, `abandoned.ts` removes the parts later.
 */
export async function upload(
  client: BucketClient,
  key: string,
  bytes: AsyncIterable<Uint8Array>,
): Promise<void> {
  let multipart: Multipart | null = null;
  try {
    for await (const part of partsOf(bytes, bucketLimits.partBytes)) {
      const isWhole = multipart === null && part.byteLength < bucketLimits.partBytes;
      if (isWhole) return void (await client.ask({ method: "PUT", key, body: part }));
      multipart ??= await begin(client, key);
      await multipart.add(part);
    }
    await multipart?.complete();
  } catch (error) {
    await multipart?.abort();
    throw error;
  }
}

/** Parts of exactly `partBytes`, and what is left. No bytes at all are one empty part. */
async function* partsOf(
  bytes: AsyncIterable<Uint8Array>,
  partBytes: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let part = new Uint8Array(partBytes);
  let filled = 0;
  let isFirst = true;
  for await (const chunk of bytes) {
    for (let at = 0; at < chunk.byteLength;) {
      const piece = chunk.subarray(at, at + partBytes - filled);
      part.set(piece, filled);
      at += piece.byteLength;
      filled += piece.byteLength;
      if (filled < partBytes) continue;
      yield part;
      // The part that was given away is still being sent.
      [part, filled, isFirst] = [new Uint8Array(partBytes), 0, false];
    }
  }
  if (filled > 0 || isFirst) yield part.subarray(0, filled);
}

interface Multipart {
  /** Resolves when there is room for another part. Rejects when one of those before could not be stored. */
  add(part: Uint8Array<ArrayBuffer>): Promise<void>;
  complete(): Promise<void>;
  /** Never rejects. */
  abort(): Promise<void>;
}

async function begin(client: BucketClient, key: string): Promise<Multipart> {
  const begun = await client.ask({ method: "POST", key, query: { uploads: "" } });
  const uploadId = textIn(begun.text, "UploadId");
  if (uploadId === null)
    throw unavailable("The file storage is not reachable; try again later", new Error(begun.text));
  const query = { uploadId };
  const etags: string[] = [];
  const underWay = new Set<Promise<void>>();
  const stop = new AbortController();
  let size = 0;
  let failure: unknown = null;

  async function send(body: Uint8Array<ArrayBuffer>, at: number): Promise<void> {
    const { signal } = stop;
    const partNumber = String(at + 1);
    const call = { key, query: { partNumber, ...query }, body, signal };
    const { status, headers } = await client.ask({ method: "PUT", ...call });
    const etag = headers.get("etag");
    if (status === 404 || etag === null) throw lost(key);
    etags[at] = etag;
  }

  return {
    async add(part) {
      while (failure === null && underWay.size >= bucketLimits.partsAtOnce)
        await Promise.race(underWay);
      if (failure !== null) throw failure;
      const sending: Promise<void> = send(part, etags.length)
        .catch((error: unknown) => {
          failure ??= error;
          stop.abort(error);
        })
        .finally(() => underWay.delete(sending));
      // Holds its place in the order.
      etags.push("");
      size += part.byteLength;
      underWay.add(sending);
    },
    async complete() {
      await Promise.all(underWay);
      if (failure !== null) throw failure;
      const body = new TextEncoder().encode(completion(etags));
      const timeoutMs = bucketLimits.completeMs;
      const { status } = await client.ask({ method: "POST", key, query, body, timeoutMs });
      if (status !== 404) return;
      // The answer to an earlier try can have been lost.
      const { headers } = await client.ask({ method: "HEAD", key });
      if (Number(headers.get("content-length") ?? -1) !== size) throw lost(key);
    },
    async abort() {
      stop.abort();
      // A part that arrives after the end of its upload would stay.
      await Promise.all(underWay);
      await client.ask({ method: "DELETE", key, query }).catch(() => undefined);
    },
  };
}

const lost = (key: string) =>
  unavailable("The file could not be stored", new Error(`The bucket lost the upload of ${key}`));

function completion(etags: readonly string[]): string {
  const parts = etags.map(
    (etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${escaped(etag)}</ETag></Part>`,
  );
  return `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join("")}</CompleteMultipartUpload>`;
}
