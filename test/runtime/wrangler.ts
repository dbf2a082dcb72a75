/**
 * `npm run dev:workers` and `npm run deploy:workers`: writes the Worker's module from CONFIG_DIR and runs wrangler,
 * which is installed first if missing. Further arguments go to wrangler.
 */
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { npmCi } from "../running/npm-ci.ts";
import { hasWrangler, workers, wranglerProgram } from "./workerd.ts";

if (!hasWrangler()) {
  console.error("Installing wrangler into test/runtime/workers, once …");
  await npmCi(workers);
}
const root = join(import.meta.dirname, "../..");
const bundled = spawnSync(process.execPath, [join(root, "app/start/commands/bundle-config.ts")], {
  cwd: root,
  stdio: "inherit",
});
if (bundled.status !== 0) process.exit(bundled.status ?? 1);

const child = spawn(process.execPath, [wranglerProgram, ...process.argv.slice(2)], {
  cwd: root,
  stdio: "inherit",
});
process.on("SIGTERM", () => child.kill("SIGTERM"));
// Ctrl-C comes to both; this process only waits for the other one.
process.on("SIGINT", () => undefined);
child.once("exit", (status) => {
  process.exitCode = status ?? 1;
});
