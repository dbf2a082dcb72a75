/** Installs the S3-compatible server. Vitest calls it once per run and project, before the first test that uses it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { npmCi } from "../running/npm-ci.ts";

/** The folder into which `npm ci` puts it. */
export const programs = join(import.meta.dirname, "programs");

export default function install(): void {
  if (existsSync(join(programs, "node_modules/@20minutes/s3rver"))) return;
  console.log("Installing the S3-compatible server …");
  npmCi(programs);
}
