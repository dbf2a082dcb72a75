/** Reads the configuration folder into memory, and imports its components, for runtimes with files. */
import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { ImportComponent } from "../../core/config/components-plan.ts";
import type { ConfigFiles } from "../../core/config/read-config.ts";

const wanted =
  /^[^/]+\/(?:[^/]+\.json|query\/.+\.sql|components\/(?!.*\bnode_modules\/).+\.(?:ts|mts|js|mjs))$/;

/** Every project file, endpoint file, query and component below the folder, by its path relative to it, with `/` between the names. */
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

/** The text of a file, by its path in the file system. */
export const readText = (path: string): string => readFileSync(path, "utf8");

/** Imports a component by its path below the folder. */
export function importFrom(folder: string): ImportComponent {
  return (path) => import(pathToFileURL(resolve(folder, path)).href);
}
