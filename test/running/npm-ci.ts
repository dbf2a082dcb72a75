/** Installs a separate package folder: large programs and libraries that only one Vitest project needs. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/** Runs `npm ci` in the folder. Rejects with an Error with npm's last words. */
export async function npmCi(folder: string): Promise<void> {
  const npm = spawn("npm", ["ci", "--no-audit", "--no-fund"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    // npm is a script there.
    shell: process.platform === "win32",
  });
  const [said, [status]] = await Promise.all([
    Promise.all([text(npm.stdout), text(npm.stderr)]),
    once(npm, "exit"),
  ]);
  if (status === 0) return;
  throw new Error(`"npm ci" in ${folder} failed:\n${said.join("\n").slice(-2000)}`);
}

/** Runs `npm ci` if a package is missing or differs in version from the folder's package.json. `what` is for people. */
export async function installPackages(folder: string, what: string): Promise<void> {
  const { dependencies = {} } = readPackage(folder);
  const isComplete = Object.entries(dependencies).every(([name, wanted]) => {
    const installed = join(folder, "node_modules", name);
    // An alias says `npm:<package>@<version>`.
    return existsSync(installed) && readPackage(installed).version === wanted.split("@").at(-1);
  });
  if (isComplete) return;
  console.log(`Installing ${what} …`);
  await npmCi(folder);
}

function readPackage(folder: string): { version?: string; dependencies?: Record<string, string> } {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}
