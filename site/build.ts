/**
 * `npm run docs`: builds the site of the documentation into site/dist. `npm run docs -- dev` shows it while pages are written,
 * `npm run docs -- preview` what was built. Its packages are installed when they are first needed.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { npmCi } from "../test/running/npm-ci.ts";

const folder = import.meta.dirname;
const [command = "build", ...more] = process.argv.slice(2);
const program = join(folder, "node_modules/vitepress/bin/vitepress.js");

if (!existsSync(program)) {
  console.log("Installing the packages of the site …");
  await npmCi(folder);
}
const { status } = spawnSync(process.execPath, [program, command, folder, ...more], {
  stdio: "inherit",
});
process.exitCode = status ?? 1;
