/** `rowgate serve` with short time-outs for clients, so that tests need not wait for the real ones. */
import { importFrom } from "../../app/start/settings/component-modules.ts";
import { readConfigFiles } from "../../app/start/settings/config-files.ts";
import { openService } from "../../app/start/servers/wire.ts";

const configDir = process.env["CONFIG_DIR"]!;
const service = await openService({
  files: await readConfigFiles(configDir),
  env: process.env,
  importComponent: importFrom(configDir),
  timeouts: { headersTimeoutMs: 1_000, bodyTimeoutMs: 2_000, uploadReadMs: 1_000 },
});
const { listen } = await ("Bun" in globalThis
  ? import("../../app/start/servers/bun.ts")
  : import("../../app/start/servers/node.ts"));
const { url, stop } = await listen(service);
process.once("SIGTERM", () => void stop().then(() => process.exit(0)));
process.stdout.write(`Rowgate listens on ${url}\n`);
