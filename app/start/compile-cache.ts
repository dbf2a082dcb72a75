/**
 * Keeps what Node.js makes of the sources, so that from the second start on the service and its threads begin in half
 * the time. Other runtimes keep that by themselves, or not at all.
 */
import module from "node:module";
import { join } from "node:path";

/** Belongs to whoever installed the packages, unlike the folder for temporary files, where others could leave code. */
const folder = join(import.meta.dirname, "../../node_modules/.cache/compiled");

/** Before the sources are loaded. Where the folder cannot be written, nothing is kept. */
export function keepCompiled(): void {
  if ("Bun" in globalThis || "Deno" in globalThis) return;
  // Threads look here.
  const kept = (process.env["NODE_COMPILE_CACHE"] ??= folder);
  module.enableCompileCache(kept);
}

/** When they have been loaded: a process that is killed later leaves no more. */
export function storeCompiled(): void {
  if (!("Bun" in globalThis || "Deno" in globalThis)) module.flushCompileCache();
}
