/** Installs react-admin and Refine, when they are first needed. Vitest calls it once per run. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { npmCi } from "../running/npm-ci.ts";

/** The folder into which `npm ci` puts them. */
export const programs = join(import.meta.dirname, "programs");

export default function install(): void {
  if (existsSync(join(programs, "node_modules/react-admin"))) return;
  console.log("Installing react-admin and Refine …");
  npmCi(programs);
}
