/**
 * Uses the compile cache of Node.js, which halves the start time of the service and its threads from the second start
 * on. Other runtimes have their own cache or none.
 */
import module from "node:module";
import { join } from "node:path";

/** Belongs to the user who installed the packages. In the folder for temporary files, other users could place code. */
const folder = join(import.meta.dirname, "../../node_modules/.cache/compiled");

/** To be called before the sources are loaded. If the folder is not writable, nothing is cached. */
export function keepCompiled(): void {
  if ("Bun" in globalThis || "Deno" in globalThis) return;
  // Threads read this variable.
  const kept = (process.env["NODE_COMPILE_CACHE"] ??= folder);
  module.enableCompileCache(kept);
}

/** To be called when the sources are loaded, because a process that is killed later would not write its cache. */
export function storeCompiled(): void {
  if (!("Bun" in globalThis || "Deno" in globalThis)) module.flushCompileCache();
}
