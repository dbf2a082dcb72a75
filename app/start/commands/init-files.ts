/** Writes the files of `rowgate init` to disk: all of them, or none when the process is interrupted. */
import { mkdirSync, renameSync } from "node:fs";
import { access, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { jsonSchemas } from "../../../core/config/reading/json-schemas.ts";

/** By path below the configuration folder. */
type Texts = ReadonlyMap<string, string>;

/** The texts of those `paths` that exist. */
export async function existingFiles(
  folder: string,
  paths: Iterable<string>,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const path of paths) {
    const text = await readFile(join(folder, path), "utf8").catch(() => null);
    if (text !== null) found.set(path, text);
  }
  return found;
}

export interface WrittenFiles {
  readonly written: readonly string[];
  /** Files that exist with another content, and were not changed. */
  readonly kept: readonly string[];
}

/**
 * Writes the files, and the JSON schemas for editors. Files that exist are kept unless `isForced`. Rejects with an
 * Error, and writes no file, when the process is interrupted before all texts are stored.
 */
export async function writeProject(
  folder: string,
  files: Texts,
  { existing, isForced }: { existing: Texts; isForced: boolean },
): Promise<WrittenFiles> {
  const isWritten = (path: string): boolean => isForced || !existing.has(path);
  const written = [...files.keys()].filter(isWritten);
  const kept = [...files].filter(([path, text]) => !isWritten(path) && existing.get(path) !== text);
  const next = new Map(written.map((path) => [path, files.get(path)!]));
  for (const [name, text] of jsonSchemas()) {
    const isThere = await access(join(folder, name)).then(
      () => true,
      () => false,
    );
    if (!isThere) next.set(name, text);
  }
  await placeFiles(folder, next);
  return { written, kept: kept.map(([path]) => path) };
}

/** Writes the texts to a temporary folder, then moves each file into place, so that no file is ever half written. */
async function placeFiles(folder: string, files: Texts): Promise<void> {
  await mkdir(folder, { recursive: true });
  const signals = ["SIGINT", "SIGTERM"] as const;
  let isInterrupted = false;
  const note = (): void => void (isInterrupted = true);
  for (const signal of signals) process.on(signal, note);
  const stage = await mkdtemp(join(folder, ".init-"));
  try {
    const stored: [from: string, to: string][] = [];
    for (const [path, text] of files) {
      const from = join(stage, String(stored.length));
      await writeFile(from, text);
      stored.push([from, join(folder, path)]);
    }
    if (isInterrupted) throw new Error("Interrupted; nothing was written");
    for (const [from, to] of stored) {
      mkdirSync(dirname(to), { recursive: true });
      renameSync(from, to);
    }
  } finally {
    await rm(stage, { recursive: true, force: true });
    for (const signal of signals) process.off(signal, note);
  }
}
