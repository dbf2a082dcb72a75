/** The programs of docs/admin-pages.md: for a browser, and for the compiler. */
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

export type Entry = keyof typeof entries;

/** The program of the page that imports this. */
export function programWith(entry: Entry): string {
  const page = readFileSync(join(root, "docs/admin-pages.md"), "utf8");
  const blocks = [...page.matchAll(/^```tsx\n(.*?)^```$/gms)].map(([, code = ""]) => code);
  const found = blocks.filter((code) => code.includes(`from "${entry}"`));
  if (found.length !== 1)
    throw new Error(`docs/admin-pages.md has ${found.length} programs with ${entry}`);
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
