/**
 * core's `Files` in a folder: each file is written under `.partial/`, synced and renamed, so it appears complete or
 * not at all. Several processes can share the folder.
 */
import { constants } from "node:fs";
import { mkdir, open, opendir, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { Readable } from "node:stream";
import { notFound, unavailable } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";
import { openedOnce } from "../../core/values/opened-once.ts";
import type { FileInfo, Files } from "../../core/plans/files-port.ts";
import { checkedKey, limitedBytes } from "./file-rules.ts";

const partialFolder = ".partial";

/** Nothing is made before the first write. `root`: an absolute path. */
export function createFolderFiles(root: string): Files {
  /** Also removes partial files of processes that died. */
  async function prepare(): Promise<void> {
    const folder = join(root, partialFolder);
    await makeFolder(folder);
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      const found = await stat(path).catch(() => null);
      if (found && Date.now() - found.mtimeMs > limits.fileAbandonedMs)
        await rm(path, { force: true });
    }
  }

  const ready = openedOnce(prepare);
  const pathOf = (key: string): string => join(root, checkedKey(key));

  return {
    async write(key, bytes, { maxBytes = Infinity } = {}) {
      const path = pathOf(key);
      await ready().catch((error: unknown) => {
        throw outOfRoom(error);
      });
      const partial = join(root, partialFolder, crypto.randomUUID());
      try {
        await writeWhole(partial, limitedBytes(bytes, maxBytes));
        await makeFolder(dirname(path));
        await rename(partial, path);
        await syncFolder(dirname(path));
      } catch (error) {
        await rm(partial, { force: true }).catch(() => undefined);
        throw outOfRoom(error);
      }
      return infoOf(key, await stat(path));
    },
    async info(key) {
      const found = await stat(pathOf(key)).catch(ignoreMissing);
      return found?.isFile() ? infoOf(key, found) : null;
    },
    async read(key, range) {
      const handle = await open(pathOf(key), "r").catch(ignoreMissing);
      if (!handle) throw notFound("Unknown file");
      // A file that is removed during the read is still read to its end.
      return Readable.toWeb(handle.createReadStream(range)) as ReadableStream<
        Uint8Array<ArrayBuffer>
      >;
    },
    async remove(key) {
      await rm(pathOf(key), { force: true });
    },
    async *list(prefix) {
      // Deno requires the default to be given.
      const options = { recursive: true, bufferSize: 32 };
      const folder = await opendir(join(root, prefix), options).catch(ignoreMissing);
      if (!folder) return;
      for await (const entry of folder) {
        const path = join(entry.parentPath, entry.name);
        const key = relative(root, path).replaceAll("\\", "/");
        if (!entry.isFile() || key.startsWith(`${partialFolder}/`)) continue;
        const found = await stat(path).catch(ignoreMissing);
        if (found) yield infoOf(key, found);
      }
    },
    async close() {},
  };
}

const infoOf = (key: string, { size, mtimeMs }: { size: number; mtimeMs: number }): FileInfo => ({
  key,
  bytes: size,
  modifiedAtMs: mtimeMs,
});

/** The files contain rows and claims, so no other user can read them. An existing folder keeps the operator's mode. */
const makeFolder = (path: string): Promise<unknown> =>
  mkdir(path, { recursive: true, mode: 0o700 });

async function writeWhole(
  path: string,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  const handle = await open(path, "wx", 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Afterwards the new name survives a power failure. Not every system supports it. */
async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY).catch(() => null);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

function ignoreMissing(error: unknown): null {
  const { code } = error as { code?: unknown };
  if (code === "ENOENT" || code === "ENOTDIR") return null;
  throw error;
}

/** A full disk or quota is not the caller's mistake, and can be temporary. */
function outOfRoom(error: unknown): unknown {
  const { code } = error as { code?: unknown };
  return code === "ENOSPC" || code === "EDQUOT"
    ? unavailable("The file storage is full; try again later", error)
    : error;
}
