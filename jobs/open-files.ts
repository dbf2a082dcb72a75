/** Opens the place where files are kept, by STORAGE_URL. Called by `app/open-jobs.ts` and `app/job-world.ts`. */
import { resolve } from "node:path";
import type { Files } from "../core/ports.ts";
import { createFolderFiles } from "./files-folder.ts";

/** `file:./data/files` is a folder, from the working directory. Throws an Error for what is no place that this version knows. */
export function openFiles(storageUrl: string): Files {
  const folder = /^file:(?:\/\/(?=[/.]))?(.+)$/i.exec(storageUrl)?.[1];
  if (folder !== undefined) return createFolderFiles(resolve(folder));
  throw new Error(
    "STORAGE_URL must be a folder, such as file:./data/files; buckets are not available in this version",
  );
}
