/**
 * Files of the service's pages that are sent from disk. Nothing is read before somebody asks; after that only the compressed
 * files stay in memory.
 */
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { SentFile, SentFiles } from "../http/send-files.ts";

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

async function plain({ file, mediaType }: FileSource): Promise<SentFile> {
  return { mediaType, content: await readFile(file), isGzipped: false };
}

async function compressed(source: FileSource): Promise<SentFile> {
  const { mediaType, content } = await plain(source);
  return { mediaType, content: await promisify(gzip)(content), isGzipped: true };
}
