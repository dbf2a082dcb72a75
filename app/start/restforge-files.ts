/** Reads the folder of a RESTForge project, for `rowgate init --from-restforge`. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { RestforgeFiles } from "../../core/init/restforge-project.ts";
import { readText } from "./config-files.ts";

/**
 * `payload/*.json`, and the queries below `payload/query` or `query`. The folder may also be `payload` itself. Rejects with an Error
 * when there is no such file.
 */
export async function readRestforgeFiles(folder: string): Promise<RestforgeFiles> {
  const inside = join(folder, "payload");
  const [own, outer] = [await namesIn(inside, false), await namesIn(folder, false)];
  const place = own.length > 0 ? inside : folder;
  const names = (own.length > 0 ? own : outer).filter((name) => name.endsWith(".json"));
  if (names.length === 0)
    throw new Error(
      `${folder} holds no payload/*.json; name the folder of the RESTForge project after --from-restforge`,
    );
  const queries = new Map<string, string>();
  for (const base of [join(folder, "query"), join(place, "query")])
    for (const name of await namesIn(base, true))
      if (name.endsWith(".sql"))
        queries.set(name.replaceAll("\\", "/"), readText(join(base, name)));
  return {
    payloads: new Map(names.toSorted().map((name) => [name, readText(join(place, name))])),
    queries,
  };
}

/** None where there is no such folder. */
async function namesIn(folder: string, recursive: boolean): Promise<string[]> {
  try {
    return await readdir(folder, { recursive });
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return [];
    throw new Error(`${folder} cannot be read`, { cause: error });
  }
}
