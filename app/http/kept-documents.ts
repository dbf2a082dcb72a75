/**
 * Finished documents, as they are sent, shared by all apps of a process, because on Workers each request has its own
 * app. Requests to one app wait for the same document while it is built; those to another app do not, because on
 * Workers a request must not wait for the work of another.
 */
import type { Routes } from "../../core/dispatch.ts";
import { limits } from "../../core/values/limits.ts";

export interface KeptDocument {
  /** The text, or its bytes as gzip. */
  readonly content: string | Uint8Array<ArrayBuffer>;
  /** Equal for equal texts. */
  readonly hash: string;
}

/** Different for each compiled configuration of a project. */
export function numberOfRoutes(routes: Routes): number {
  const known = numbers.get(routes) ?? ++count;
  numbers.set(routes, known);
  return known;
}

const numbers = new WeakMap<Routes, number>();
let count = 0;

/** Gives the document of a key. Builds a missing one once, even if several requests ask for it at the same time. */
export type FindDocument = (
  key: string,
  build: () => Promise<KeptDocument>,
) => Promise<KeptDocument>;

/** For one app. */
export function createDocumentFinder(): FindDocument {
  const building = new Map<string, Promise<KeptDocument>>();
  return async (key, build) => {
    const known = kept.get(key);
    if (known) {
      // Moved to the end, because the document that was used last is dropped last.
      keep(key, known);
      return known;
    }
    const document = building.get(key) ?? build();
    building.set(key, document);
    try {
      const built = await document;
      keep(key, built);
      return built;
    } finally {
      building.delete(key);
    }
  };
}

const kept = new Map<string, KeptDocument>();

/** Drops the oldest ones. A document above the limit of all together is kept until the next one comes. */
function keep(key: string, document: KeptDocument): void {
  kept.delete(key);
  kept.set(key, document);
  let length = [...kept.values()].reduce((sum, { content }) => sum + content.length, 0);
  for (const [oldest, { content }] of kept) {
    if (length <= limits.documentsKeptLengthMax || kept.size === 1) return;
    kept.delete(oldest);
    length -= content.length;
  }
}
