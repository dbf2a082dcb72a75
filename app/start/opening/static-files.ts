/**
 * The files that pages load: of the console its own modules and styles as they are, with the libraries that they load;
 * of the page `/docs` Swagger UI and the page's own script (0.5 MB compressed).
 */
import { createHash, hash } from "node:crypto";
import { existsSync, globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { clientPatterns, mediaKindOf, pathsOf, vendorFiles } from "../../console/client-files.ts";
import { consoleFolder, type ConsoleFiles } from "../../http/show-console.ts";
import { mediaTypes } from "../../http/send-files.ts";
import { createSentFiles } from "./disk-files.ts";
import { docsFolder, type DocsFiles } from "../../http/show-docs.ts";

/** The files of the console. Rejects when a package is not installed. */
export async function openConsoleFiles(): Promise<ConsoleFiles> {
  const files = consoleSources();
  const digest = createHash("sha256");
  for (const [name, file] of files) digest.update(name).update(await readFile(file));
  const folder = `${consoleFolder}${digest.digest("hex").slice(0, 12)}/`;
  const sources = [...files].map(
    ([name, file]) => [folder + name, { file, mediaType: mediaTypes[mediaKindOf(name)] }] as const,
  );
  return { ...createSentFiles(new Map(sources)), paths: pathsOf(folder, [...files.keys()]) };
}

/** Where each file of the console is on disk, by its name in the console. */
export function consoleSources(): ReadonlyMap<string, string> {
  const client = fileURLToPath(new URL("../../console/client", import.meta.url));
  const own = globSync([...clientPatterns], { cwd: client })
    .map((name) => name.replaceAll("\\", "/"))
    .toSorted();
  const files = new Map(own.map((name) => [name, join(client, name)]));
  for (const [name, source] of Object.entries(vendorFiles)) {
    // The npm package of the service has them among its own files (`pack.ts`).
    if (!files.has(name)) files.set(name, inPackage(source.package, source.file));
  }
  return files;
}

function inPackage(name: string, file: string): string {
  const require = createRequire(import.meta.url);
  for (const folder of require.resolve.paths(name) ?? []) {
    const path = join(folder, name, file);
    if (existsSync(path)) return path;
  }
  return join(dirname(require.resolve(`${name}/package.json`)), file);
}

/** The files of `/docs`. Rejects when the package is not installed. */
export async function openDocsFiles(): Promise<DocsFiles> {
  // The npm package of the service has the files itself (`pack.ts`).
  const packed = new URL("../../pages/swagger-ui/package.json", import.meta.url);
  const manifest = existsSync(packed)
    ? fileURLToPath(packed)
    : createRequire(import.meta.url).resolve("swagger-ui-dist/package.json");
  const { version } = JSON.parse(await readFile(manifest, "utf8")) as { version: string };
  const ofPackage = (name: string): string => join(dirname(manifest), name);
  const script = fileURLToPath(new URL("../../pages/docs-script.js", import.meta.url));
  const ownVersion = hash("sha256", await readFile(script)).slice(0, 12);
  const style = `${docsFolder}swagger-ui-${version}/swagger-ui.css`;
  const bundle = `${docsFolder}swagger-ui-${version}/swagger-ui-bundle.js`;
  const own = `${docsFolder}rowgate-${ownVersion}/docs.js`;
  const files = createSentFiles(
    new Map([
      [style, { file: ofPackage("swagger-ui.css"), mediaType: mediaTypes.css }],
      [bundle, { file: ofPackage("swagger-ui-bundle.js"), mediaType: mediaTypes.js }],
      [own, { file: script, mediaType: mediaTypes.js }],
    ]),
  );
  // The page lists the endpoints before it has all of Swagger UI.
  return { ...files, paths: { styles: [style], scripts: [own, bundle] } };
}
