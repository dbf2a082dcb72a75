/**
 * Documents that were built before, as the text that is sent. All apps of a process share the finished ones, because on
 * Workers each request has an app of its own; only requests to one app wait for the same document while it is built,
 * because on Workers a request must not wait for the work of another.
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

/** Gives the document of a key, and builds it if it is not kept: once, also when several requests ask for it at the same time. */
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
      // The one that was asked for last is dropped last.
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

/** Drops the oldest ones. A document that is larger than what may be kept in all is kept until the next one comes. */
function keep(key: string, document: KeptDocument): void {
  kept.delete(key);
  kept.set(key, document);
  let length = [...kept.values()].reduce((sum, { text }) => sum + text.length, 0);
  for (const [oldest, { text }] of kept) {
    if (length <= limits.documentsKeptLengthMax || kept.size === 1) return;
    kept.delete(oldest);
    length -= text.length;
  }
}
