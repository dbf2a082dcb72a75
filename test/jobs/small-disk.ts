/**
 * A small disk for one process that a test can fill: a file system in memory, visible only to this process and its
 * children, and removed when they end. Linux only.
 */
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Root can mount; other users need a user namespace, which some systems forbid. */
const worlds: readonly (readonly string[])[] = [
  ["unshare", "--mount"],
  ["unshare", "--mount", "--user", "--map-root-user"],
];

const mount = 'mount -t tmpfs -o size="$1" tmpfs "$0" && shift && exec "$@"';

const world = worlds.find(
  ([program = "", ...args]) =>
    spawnSync(program, [...args, "sh", "-c", mount, "/mnt", "1m", "true"]).status === 0,
);

/** Whether this system lets a test have a small disk. */
export const hasSmallDisks = world !== undefined;

/** A command that runs the command line after it, in the same process, with a disk of `bytes` at `folder`. */
export const onSmallDisk = (folder: string, bytes: number): readonly string[] => [
  ...world!,
  "sh",
  "-c",
  mount,
  folder,
  String(bytes),
];

/** The folder as the process with this id sees it. */
export const seenBy = (pid: number, folder: string): string => `/proc/${pid}/root${folder}`;

/** Leaves `freeBytes` of the disk at `folder`; the function it gives takes the rest off again. */
export function fill(folder: string, freeBytes = 0): () => void {
  const path = join(folder, "filler");
  const step = 4_096;
  let size = 0;
  try {
    for (; ; size += step) writeFileSync(path, Buffer.alloc(step), { flag: "a" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
  rmSync(path);
  writeFileSync(path, Buffer.alloc(Math.max(0, size - freeBytes)));
  return () => rmSync(path, { force: true });
}
