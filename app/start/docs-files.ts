/** The files of the page `/docs`: Swagger UI, and the page's own script (0.5 MB compressed). */
import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { docsFolder, type DocsFiles } from "../http/show-docs.ts";
import { mediaTypes } from "./media-types.ts";
import { createSentFiles } from "./disk-files.ts";

/** Rejects when the package is not installed. */
export async function openDocsFiles(): Promise<DocsFiles> {
  // The npm package of the service has the files itself (`pack.ts`).
  const packed = new URL("../pages/swagger-ui/package.json", import.meta.url);
  const manifest = existsSync(packed)
    ? fileURLToPath(packed)
    : createRequire(import.meta.url).resolve("swagger-ui-dist/package.json");
  const { version } = JSON.parse(await readFile(manifest, "utf8")) as { version: string };
  const ofPackage = (name: string): string => join(dirname(manifest), name);
  const script = fileURLToPath(new URL("../pages/docs-script.js", import.meta.url));
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
  return { ...files, paths: { styles: [style], scripts: [bundle, own] } };
}
