/**
 * `npm run rowgate:bun -- <command>` and `npm run rowgate:deno -- <command>`: runs the command line on the runtime in
 * the PATH, else on the one of the tests, which it installs if missing.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { npmCi } from "../running/npm-ci.ts";
import { programs, rowgateCommand } from "./runtimes.ts";

const [runtime = "", ...rest] = process.argv.slice(2);
if (runtime !== "bun" && runtime !== "deno") throw new Error(`No runtime is called "${runtime}"`);

let command = rowgateCommand(runtime, process.env);
if (!command) {
  console.error(`Installing Bun and Deno into test/runtime/programs, once …`);
  await npmCi(programs);
  command = rowgateCommand(runtime, process.env);
}
if (!command) throw new Error(`${runtime} has no program for ${process.platform} ${process.arch}`);

const [program, ...args] = command;
const child = spawn(
  program,
  [...args, join(import.meta.dirname, "../../app/start/cli.ts"), ...rest],
  { stdio: "inherit", env: { ...process.env, DENO_NO_UPDATE_CHECK: "1" } },
);
for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
// Ctrl-C comes to both; this process only waits for the other one.
process.on("SIGINT", () => undefined);
child.once("error", (error) => {
  console.error(error.message);
  process.exitCode = 1;
});
child.once("exit", (status) => {
  process.exitCode = status ?? 1;
});
