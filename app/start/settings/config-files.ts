/** Reads the configuration folder into memory, for runtimes with files. */
import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ConfigFiles } from "../../../core/config/reading/read-config.ts";

/**
 * The files that belong to a configuration, by their path below the folder. Names that begin with a dot are of editors,
 * systems and version control: the lock file of an editor must not stop a reload.
 */
export const configPath =
  /^(?!\.|.*\/\.)[^/]+\/(?:(?:messages\/)?[^/]+\.[jJ][sS][oO][nN]|query\/.+\.sql|components\/(?!.*\bnode_modules\/).+\.(?:ts|mts|js|mjs))$/;

/** Project files, endpoint files, queries and components below the folder, by relative path, separated by `/`. */
export async function readConfigFiles(folder: string): Promise<ConfigFiles> {
  let names: string[];
  try {
    names = await readdir(folder, { recursive: true });
  } catch (error) {
    throw new Error(
      `CONFIG_DIR=${folder} cannot be read; name a folder that holds one folder for each project`,
      { cause: error },
    );
  }
  const paths = names
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => configPath.test(name));
  const texts = await Promise.all(paths.map((path) => readOne(join(folder, path))));
  return new Map(paths.map((path, at) => [path, texts[at]!]));
}

async function readOne(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    const { code } = cause as { code?: string };
    throw new Error(
      `${path} cannot be read (${code}); ${code === "EACCES" ? "give the user of this process the right to read it" : "correct or remove it"}`,
      { cause },
    );
  }
}

/** The text of a file, by its path in the file system. */
export const readText = (path: string): string => readFileSync(path, "utf8");
