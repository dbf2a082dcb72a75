/**
 * Installs the browser libraries and Playwright. Vitest calls it once per run, before the first test of the `browser`
 * project.
 */
import { join } from "node:path";
import { installPackages } from "../running/npm-ci.ts";

/** The folder into which `npm ci` puts them. */
export const programs = join(import.meta.dirname, "programs");

export default (): Promise<void> =>
  installPackages(programs, "the libraries for the browser tests");
