/** The programs of docs/admin-pages.md and docs/grids.md: for a browser, and for the compiler. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { programs } from "./install.ts";

export const root = join(import.meta.dirname, "../..");

/** In place of the packed package, which has the same files compiled. */
export const entries = {
  "rowgate/react-admin": join(root, "app/adapters/react-admin.ts"),
  "rowgate/refine": join(root, "app/adapters/refine.ts"),
} as const;

/** The program of the page that imports this. */
export function programWith(module: string, page = "docs/admin-pages.md"): string {
  const text = readFileSync(join(root, page), "utf8");
  const blocks = [...text.matchAll(/^```tsx\n(.*?)^```$/gms)].map(([, code = ""]) => code);
  const found = blocks.filter((code) => code.includes(`from "${module}"`));
  if (found.length !== 1) throw new Error(`${page} has ${found.length} programs with ${module}`);
  return found[0]!;
}

interface Esbuild {
  build(options: object): Promise<{ outputFiles: { text: string }[] }>;
}

/** One script for a browser, of the program and all that it imports. */
export async function bundled(code: string): Promise<string> {
  const file = join(programs, "node_modules/esbuild/lib/main.js");
  const { build } = (await import(pathToFileURL(file).href)) as Esbuild;
  const { outputFiles } = await build({
    stdin: { contents: code, loader: "tsx", resolveDir: programs },
    alias: entries,
    bundle: true,
    write: false,
    format: "esm",
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "silent",
  });
  return outputFiles[0]!.text;
}
