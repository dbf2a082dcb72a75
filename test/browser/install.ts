/**
 * Installs the browser libraries and Playwright if one is missing or differs in version from `programs/package.json`.
 * Vitest calls it once per run, before the first test of the `browser` project.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { npmCi } from "../running/npm-ci.ts";

/** The folder into which `npm ci` puts them. */
export const programs = join(import.meta.dirname, "programs");

export default function install(): void {
  const { dependencies } = readPackage(programs) as { dependencies: Record<string, string> };
  const isComplete = Object.entries(dependencies).every(([name, wanted]) => {
    const folder = join(programs, "node_modules", name);
    // An alias says `npm:<package>@<version>`.
    return existsSync(folder) && readPackage(folder).version === wanted.split("@").at(-1);
  });
  if (isComplete) return;
  console.log("Installing the libraries for the browser tests …");
  npmCi(programs);
}

function readPackage(folder: string): { version?: string; dependencies?: Record<string, string> } {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}
