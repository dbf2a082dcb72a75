/**
 * `rowgate worker`, but its jobs are taken over one second after it died, so that tests can kill it often.
 * TEST_STUCK_LOOK_MS: interval of the check whether it is stuck.
 */
import { readConfigFiles } from "../../app/start/settings/config-files.ts";
import { startWorker } from "../../app/start/worker.ts";

const stuckLookMs = process.env["TEST_STUCK_LOOK_MS"];
const { stop } = await startWorker({
  files: await readConfigFiles(process.env["CONFIG_DIR"]!),
  env: process.env,
  lockMs: 1_000,
  lookMs: 500,
  ...(stuckLookMs && { stuckLookMs: Number(stuckLookMs) }),
  onStuck: () => process.exit(1),
});
process.once("SIGTERM", () => void stop().then(() => process.exit(0)));
process.stdout.write("Rowgate takes jobs\n");
