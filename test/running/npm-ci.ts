/** Installs a separate package folder: large programs and libraries that only one Vitest project needs. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Runs `npm ci` in the folder. Throws an Error with npm's last words. */
export function npmCi(folder: string): void {
  const { status, stdout, stderr } = spawnSync("npm", ["ci", "--no-audit", "--no-fund"], {
    cwd: folder,
    encoding: "utf8",
    // npm is a script there.
    shell: process.platform === "win32",
  });
  if (status === 0) return;
  throw new Error(`"npm ci" in ${folder} failed:\n${`${stdout}\n${stderr}`.slice(-2000)}`);
}

/** Runs `npm ci` if a package is missing or differs in version from the folder's package.json. `what` is for people. */
export function installPackages(folder: string, what: string): void {
  const { dependencies = {} } = readPackage(folder);
  const isComplete = Object.entries(dependencies).every(([name, wanted]) => {
    const installed = join(folder, "node_modules", name);
    // An alias says `npm:<package>@<version>`.
    return existsSync(installed) && readPackage(installed).version === wanted.split("@").at(-1);
  });
  if (isComplete) return;
  console.log(`Installing ${what} …`);
  npmCi(folder);
}

function readPackage(folder: string): { version?: string; dependencies?: Record<string, string> } {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}
