/** The command line, run through `npm run rowgate -- <command>`. Nothing but this is loaded before the sources are kept compiled. */
import { keepCompiled } from "./compile-cache.ts";

keepCompiled();
const { runCommand } = await import("./commands.ts");
await runCommand(process.argv[2], process.argv.slice(3));
