/** The files of the console where they are part of the bundled code: a Worker has no files, and its platform compresses answers. */
import { pathsOf } from "../../console/client-files.ts";
import { consoleFolder, type Console } from "../../http/show-console.ts";
import { mediaTypes } from "../media-types.ts";
import { digest } from "./request-parts.ts";

/** `files`: texts by their names in the console. */
export const bundledConsole =
  (files: ReadonlyMap<string, string>): Console =>
  async () => {
    const version = digest([...files].flat().join("\n")).slice(0, 12);
    const folder = `${consoleFolder}${version}/`;
    return {
      paths: pathsOf(folder, [...files.keys()]),
      async read(path) {
        const content = path.startsWith(folder) ? files.get(path.slice(folder.length)) : undefined;
        if (content === undefined) return null;
        return {
          mediaType: mediaTypes[path.endsWith(".css") ? "css" : "js"],
          content,
          isGzipped: false,
        };
      },
    };
  };
