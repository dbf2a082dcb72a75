/**
 * A small disk of one process's own, that a test can fill: a file system in memory, which only this process and its children see and which
 * is gone when they end. Linux alone has it.
 */
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Root may do it; others only where the system lets them be root of a world of their own. */
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

/** The command that runs the command line after it, in the same process, with a disk of so many bytes at `folder`. */
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
