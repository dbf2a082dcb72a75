/** Installs Bun and Deno if the tests of the `runtime` project need them. Vitest calls it once per run. */
import { npmCi } from "../running/npm-ci.ts";
import { commandFor, newestNode, programs } from "./runtimes.ts";

export default async function install(): Promise<void> {
  if (hasAll()) return;
  console.log("Installing Bun, Deno and the newest Node for the runtime tests …");
  await npmCi(programs);
  if (!hasAll()) {
    throw new Error(
      `Bun and Deno have no program for ${process.platform} ${process.arch}: the runtime tests cannot run here, ` +
        `leave them out with "npm run test:deep -- --project '!runtime'".`,
    );
  }
}

const hasAll = (): boolean =>
  commandFor("bun") !== null && commandFor("deno") !== null && newestNode() !== null;
