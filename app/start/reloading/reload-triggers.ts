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
    watchFolder(folder.path, () => {
      void folder.isSame().then(
        (isSame) => (isSame ? undefined : load()),
        () => load(),
      );
    });
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

/** Calls `changed` once the files have not changed for a moment, and again a little later. Keeps no process alive. */
function watchFolder(folder: string, changed: () => void): void {
  let timers: ReturnType<typeof setTimeout>[] = [];
  watch(folder, { recursive: true, persistent: false }, (_event, name) => {
    if (name !== null && !isOfConfiguration(name.replaceAll("\\", "/"))) return;
    timers.forEach(clearTimeout);
    timers = looksAfterMs.map((delayMs) => setTimeout(changed, delayMs));
    for (const timer of timers) timer.unref?.();
  });
}

/** A name without an extension can be a folder that was added, moved or removed. */
const isOfConfiguration = (name: string): boolean => configPath.test(name) || !/\.\w+$/.test(name);
