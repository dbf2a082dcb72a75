/** Tells when files of the configuration folder have changed, for development. */
import { watch } from "node:fs";
import { configPath } from "./config-files.ts";

/** Editors write a file in several steps, and some of them write several files. */
const quietMs = 150;

/** Calls `changed` once the files have been left alone for a moment. Keeps no process alive. */
export function watchFolder(folder: string, changed: () => void): { close(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const watcher = watch(folder, { recursive: true, persistent: false }, (_event, name) => {
    if (name !== null && !isOfConfiguration(name.replaceAll("\\", "/"))) return;
    clearTimeout(timer);
    timer = setTimeout(changed, quietMs);
  });
  return {
    close() {
      clearTimeout(timer);
      watcher.close();
    },
  };
}

/** A name without an ending may be a folder that was added, moved or removed. */
const isOfConfiguration = (name: string): boolean => configPath.test(name) || !/\.\w+$/.test(name);
