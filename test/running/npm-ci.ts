/** Installs a separate package folder: large programs and libraries that only one Vitest project needs. */
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
