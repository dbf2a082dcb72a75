/** Installs the S3-compatible server. Vitest calls it once per run and project, before the first test that uses it. */
import { join } from "node:path";
import { installPackages } from "../running/npm-ci.ts";

/** The folder into which `npm ci` puts it. */
export const programs = join(import.meta.dirname, "programs");

export default (): Promise<void> => installPackages(programs, "the S3-compatible server");
