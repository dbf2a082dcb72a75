/**
 * Documents that were built before, as the text that is sent. All apps of a process share them, because on Workers each
 * request has an app of its own.
 */
import type { Routes } from "../../core/dispatch.ts";
import { limits } from "../../core/values/limits.ts";

export interface KeptDocument {
  readonly text: string;
  readonly etag: string;
}

/** Different for each compiled configuration of a project. */
export function numberOfRoutes(routes: Routes): number {
  const known = numbers.get(routes) ?? ++count;
  numbers.set(routes, known);
  return known;
}

const numbers = new WeakMap<Routes, number>();
let count = 0;

/** The document of this key. It is built once, also when several requests ask for it at the same time. */
export function keptDocument(
  key: string,
  build: () => Promise<KeptDocument>,
): Promise<KeptDocument> {
  const known = kept.get(key);
  // The one that was asked for last is dropped last.
  kept.delete(key);
  const document = known?.document ?? build();
  const entry: Entry = known ?? { document, length: 0 };
  kept.set(key, entry);
  if (!known)
    document.then(
      ({ text }) => {
        entry.length = text.length;
        dropOldest();
      },
      () => void (kept.get(key) === entry && kept.delete(key)),
    );
  return document;
}

interface Entry {
  readonly document: Promise<KeptDocument>;
  /** Characters; 0 while it is built. */
  length: number;
}

const kept = new Map<string, Entry>();

/** A document that is larger than what may be kept in all is kept until the next one comes. */
function dropOldest(): void {
  let length = [...kept.values()].reduce((sum, entry) => sum + entry.length, 0);
  for (const [key, entry] of kept) {
    if (length <= limits.documentsKeptLengthMax || kept.size === 1) return;
    kept.delete(key);
    length -= entry.length;
  }
}
