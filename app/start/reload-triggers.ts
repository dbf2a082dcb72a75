/** When a command loads its configuration again: on SIGHUP, and in development whenever a file of it has changed. */
import type { ConfigFolder, FolderSource } from "./config-folder.ts";

/** Serves the configuration that `read` gives; rejects, after logging why, when the old one stays. */
export type Reload = (read: () => Promise<FolderSource>) => Promise<void>;

/**
 * Listens from now on, so that nothing is missed while the first configuration is loaded. The result takes over once there is something
 * to reload.
 */
export async function listenForReloads(
  folder: ConfigFolder,
  { isWatched }: { isWatched: boolean },
): Promise<(reload: Reload) => void> {
  let isAsked = false;
  let load = (): void => void (isAsked = true);
  process.on("SIGHUP", () => load());
  if (isWatched) {
    // Rejects where the folder is not there.
    await folder.isSame();
    const { watchFolder } = await import("./watch-folder.ts");
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
