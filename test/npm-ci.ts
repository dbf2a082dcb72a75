/**
 * Installs a package folder of its own: programs and libraries that are large, and that only one Vitest project needs.
 * The `install.ts` of those projects call it.
 */
import { spawnSync } from "node:child_process";

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
