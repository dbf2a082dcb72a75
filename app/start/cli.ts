#!/usr/bin/env node
/** The command line: `npm run rowgate -- <command>`. The compile cache must be on before any other source is loaded. */
import { keepCompiled } from "./compile-cache.ts";
import { listenForStops } from "./stops.ts";

const [major = 0] = process.versions.node.split(".").map(Number);
if (major < 24) {
  process.stderr.write(
    `Rowgate needs Node.js 24 or newer; this is ${process.versions.node}. ` +
      "Install it from https://nodejs.org, or use Bun: bunx --bun rowgate\n",
  );
  process.exit(1);
}
keepCompiled();
const [command, ...args] = process.argv.slice(2);
// The sources take half a second to load. The first start of a container writes files first, which must be whole.
if (command === "worker" || (command === "serve" && !args.includes("--init"))) listenForStops();
const { runCommand } = await import("./commands.ts");
await runCommand(command, args);
