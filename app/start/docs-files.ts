/**
 * The files of the page `/docs`: Swagger UI, and the page's own script. Nothing is read before the page is
 * first asked for; after that only the compressed files stay in memory (0.5 MB).
 */
import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type DocsFile, docsFolder, type DocsFiles } from "../http/show-docs.ts";

const mediaTypes = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
} as const;

interface Source {
  readonly file: string;
  readonly mediaType: string;
}

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
  const sources: ReadonlyMap<string, Source> = new Map([
    [style, { file: ofPackage("swagger-ui.css"), mediaType: mediaTypes.css }],
    [bundle, { file: ofPackage("swagger-ui-bundle.js"), mediaType: mediaTypes.js }],
    [own, { file: script, mediaType: mediaTypes.js }],
  ]);
  const gzipped = new Map<string, Promise<DocsFile>>();

  return {
    paths: { styles: [style], scripts: [bundle, own] },
    async read(path, { gzips }) {
      const source = sources.get(path);
      if (!source) return null;
      if (!gzips) return plain(source);
      const made = gzipped.get(path) ?? compressed(source);
      gzipped.set(path, made);
      made.catch(() => gzipped.delete(path));
      return made;
    },
  };
}

async function plain({ file, mediaType }: Source): Promise<DocsFile> {
  return { mediaType, content: await readFile(file), isGzipped: false };
}

async function compressed(source: Source): Promise<DocsFile> {
  const { mediaType, content } = await plain(source);
  return { mediaType, content: await promisify(gzip)(content), isGzipped: true };
}
