/** Installs react-admin, Refine and the large grids. Vitest calls it once per run. */
import { join } from "node:path";
import { installPackages } from "../running/npm-ci.ts";

/** The folder into which `npm ci` puts them. */
export const programs = join(import.meta.dirname, "programs");

export default (): Promise<void> =>
  installPackages(programs, "react-admin, Refine and the large grids");
