/** Reads the configuration folder into memory, for the runtimes that have files. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ConfigFiles } from "../core/config/read.ts";

const wanted = /^[^/]+\/(?:[^/]+\.json|query\/.+\.sql)$/;

/** Every project file, endpoint file and query below the folder, by its path relative to it, with `/` between the names. */
export async function readConfigFiles(folder: string): Promise<ConfigFiles> {
  let names: string[];
  try {
    names = await readdir(folder, { recursive: true });
  } catch (error) {
    throw new Error(
      `CONFIG_DIR=${folder} cannot be read; name a folder that holds one folder for each project`,
      {
        cause: error,
      },
    );
  }
  const paths = names.map((name) => name.replaceAll("\\", "/")).filter((name) => wanted.test(name));
  const texts = await Promise.all(paths.map((path) => readFile(join(folder, path), "utf8")));
  return new Map(paths.map((path, at) => [path, texts[at]!]));
}
