/** Fetches Bun and Deno before the first test of the `runtime` project that needs them. Vitest calls it once per run. */
import { spawnSync } from "node:child_process";
import { commandFor, programs } from "./runtimes.ts";

export default function install(): void {
  if (commandFor("bun") && commandFor("deno")) return;
  console.log("Installing Bun and Deno for the runtime tests …");
  const { status, stdout, stderr } = spawnSync("npm", ["ci", "--no-audit", "--no-fund"], {
    cwd: programs,
    encoding: "utf8",
    // npm is a script there.
    shell: process.platform === "win32",
  });
  if (status !== 0) {
    throw new Error(`"npm ci" in ${programs} failed:\n${`${stdout}\n${stderr}`.slice(-2000)}`);
  }
  if (!(commandFor("bun") && commandFor("deno"))) {
    throw new Error(
      `Bun and Deno have no program for ${process.platform} ${process.arch}: the runtime tests cannot run here, ` +
        `leave them out with "npm test -- --project '!runtime'".`,
    );
  }
}
