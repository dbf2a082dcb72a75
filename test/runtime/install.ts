/** Fetches Bun and Deno before the first test of the `runtime` project that needs them. Vitest calls it once per run. */
import { npmCi } from "../npm-ci.ts";
import { commandFor, programs } from "./runtimes.ts";

export default function install(): void {
  if (commandFor("bun") && commandFor("deno")) return;
  console.log("Installing Bun and Deno for the runtime tests …");
  npmCi(programs);
  if (!(commandFor("bun") && commandFor("deno"))) {
    throw new Error(
      `Bun and Deno have no program for ${process.platform} ${process.arch}: the runtime tests cannot run here, ` +
        `leave them out with "npm test -- --project '!runtime'".`,
    );
  }
}
