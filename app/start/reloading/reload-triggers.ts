/** When a command loads its configuration again: on SIGHUP, and in development whenever a file of it has changed. */
import { watch } from "node:fs";
import { configPath } from "../settings/config-files.ts";
import type { ConfigFolder, FolderSource } from "./config-folder.ts";

/** Serves the configuration that `read` gives; rejects, after logging why, when the old one stays. */
export type Reload = (read: () => Promise<FolderSource>) => Promise<void>;

/**
 * Listens from now on, so that no change is missed while the first configuration is loaded. Call the result with the
 * reload function once there is something to reload.
 */
export async function listenForReloads(
  folder: ConfigFolder,
  { isWatched }: { isWatched: boolean },
): Promise<(reload: Reload) => void> {
  let isAsked = false;
  let load = (): void => void (isAsked = true);
  process.on("SIGHUP", () => load());
  if (isWatched) {
    // Rejects when the folder does not exist.
    await folder.isSame();
    watchFolder(folder, () => load());
  }
  return (reload) => {
    load = () => void reload(folder.read).catch(() => undefined);
    if (isAsked) load();
  };
}

/**
 * Editors write a file in several steps, or several files. The second look is for files in a folder that has just been
 * added: the system may not report them yet.
 */
const looksAfterMs = [150, 1_000];

/** How often the files are looked at without a word of the system, and how much of the time the looks may take. */
const lookEachMs = 2_000;
const lookShare = 0.02;

/**
 * Calls `changed` once the files have changed and then stayed the same for a moment. Keeps no process alive. The system
 * says nothing of a folder that was replaced by another one, nor ever after of the files in it (moved away and back, or
 * checked out anew), and on some file systems nothing at all, so the files are looked at from time to time, too.
 */
function watchFolder(folder: ConfigFolder, changed: () => void): void {
  let timers: ReturnType<typeof setTimeout>[] = [];
  let isAway = false;
  const later = (look: () => Promise<void>, delayMs: number): ReturnType<typeof setTimeout> => {
    const timer = setTimeout(() => void look(), delayMs);
    timer.unref?.();
    return timer;
  };
  /** `use`: what is there is about to be loaded. */
  async function differs(use: boolean): Promise<boolean> {
    const isSame = await folder.isSame().catch(() => null);
    const differ = isSame === false || (isSame === null) !== isAway;
    if (use) isAway = isSame === null;
    return differ;
  }
  function settle(): void {
    timers.forEach(clearTimeout);
    timers = looksAfterMs.map((delayMs) =>
      later(async () => void ((await differs(true)) && changed()), delayMs),
    );
  }
  async function look(): Promise<void> {
    const startedMs = performance.now();
    if (await differs(false)) settle();
    later(look, Math.max(lookEachMs, (performance.now() - startedMs) / lookShare));
  }
  later(look, lookEachMs);
  watch(folder.path, { recursive: true, persistent: false }, (_event, name) => {
    if (name === null || isOfConfiguration(name.replaceAll("\\", "/"))) settle();
  });
}

/** A name without an extension can be a folder that was added, moved or removed. */
const isOfConfiguration = (name: string): boolean => configPath.test(name) || !/\.\w+$/.test(name);
