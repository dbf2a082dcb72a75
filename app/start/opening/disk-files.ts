/**
 * Files of the service's pages, sent from disk. A file is read at its first request; after that only its compressed
 * form stays in memory.
 */
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gunzip, gzip, gzipSync, type ZlibOptions } from "node:zlib";
import type { Compression } from "../../http/compression.ts";
import type { SentFile, SentFiles } from "../../http/send-files.ts";

const gzipped = promisify<string | Uint8Array, ZlibOptions, Buffer<ArrayBuffer>>(gzip);

/**
 * Contents that are compressed at once, in half a millisecond at the first level. The way to the pool and back costs as
 * much, and its threads have the priority of a job when one has run (`low-priority.ts`).
 */
const quickLengthMax = 64 * 1024;

export const compression: Compression = {
  async gzip(content, level) {
    const options = level === undefined ? {} : { level };
    return content.length <= quickLengthMax
      ? gzipSync(content, options)
      : gzipped(content, options);
  },
  gunzip: promisify(gunzip),
};

export interface FileSource {
  /** Where it is on disk. */
  readonly file: string;
  readonly mediaType: string;
}

/** `sources`: by path, relative to the root of the service. */
export function createSentFiles(sources: ReadonlyMap<string, FileSource>): SentFiles {
  const gzipped = new Map<string, Promise<SentFile>>();
  return {
    async read(path, { gzips }) {
      const source = sources.get(path);
      if (!source) return null;
      if (!gzips) return plain(source);
      const made = gzipped.get(path) ?? compressed(source);
      gzipped.set(path, made);
      made.catch(() => gzipped.delete(path));
      return made;
    },
  };
}

const plain = async ({ file, mediaType }: FileSource): Promise<SentFile> => ({
  mediaType,
  content: await readFile(file),
  isGzipped: false,
});

async function compressed(source: FileSource): Promise<SentFile> {
  const { mediaType, content } = await plain(source);
  return { mediaType, content: await compression.gzip(content), isGzipped: true };
}
