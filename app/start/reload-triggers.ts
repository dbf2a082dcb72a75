/** When a command loads its configuration again: on SIGHUP, and in development whenever a file of it has changed. */
import type { ConfigFolder, FolderSource } from "./config-folder.ts";

/** Serves the configuration that `read` gives; rejects, after logging why, when the old one stays. */
export type Reload = (read: () => Promise<FolderSource>) => Promise<void>;

/** Listens from now on. The result takes over once there is something to reload; a signal that came before counts then. */
export function listenForReloads(
  folder: ConfigFolder,
  { isWatched }: { isWatched: boolean },
): (reload: Reload) => Promise<void> {
  let isAsked = false;
  let load = (): void => void (isAsked = true);
  process.on("SIGHUP", () => load());

  return async (reload) => {
    load = () => void reload(folder.read).catch(() => undefined);
    if (isAsked) load();
    if (!isWatched) return;
    const { watchFolder } = await import("./watch-folder.ts");
    watchFolder(folder.path, () => {
      void folder.isSame().then(
        (isSame) => (isSame ? undefined : load()),
        () => load(),
      );
    });
  };
}
