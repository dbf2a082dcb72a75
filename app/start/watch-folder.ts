/** Tells when files of the configuration folder may have changed, for development. */
import { watch } from "node:fs";
import { configPath } from "./config-files.ts";

/**
 * Editors write a file in several steps, and some of them write several files. The second look is for files in a folder that has
 * just been added: the system may not tell of them yet.
 */
const looksAfterMs = [150, 1_000];

/** Calls `changed` once the files have been left alone for a moment, and again a little later. Keeps no process alive. */
export function watchFolder(folder: string, changed: () => void): void {
  let timers: ReturnType<typeof setTimeout>[] = [];
  watch(folder, { recursive: true, persistent: false }, (_event, name) => {
    if (name !== null && !isOfConfiguration(name.replaceAll("\\", "/"))) return;
    timers.forEach(clearTimeout);
    timers = looksAfterMs.map((delayMs) => setTimeout(changed, delayMs));
    for (const timer of timers) timer.unref?.();
  });
}

/** A name without an ending may be a folder that was added, moved or removed. */
const isOfConfiguration = (name: string): boolean => configPath.test(name) || !/\.\w+$/.test(name);
