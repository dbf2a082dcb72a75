/**
 * The program of a reader process (`reader.ts`). The statements run in a worker thread (`reader-thread.ts`). The main
 * thread sees when the service closes its input or is gone, and ends the process at once, even during a statement.
 * It loads nothing else: requests wait for the start of the process.
 */
import { Worker } from "node:worker_threads";
import { createFrames } from "./reader-messages.ts";

/** Objects of the thread, in megabytes: what one statement gives. */
const heapMb = 256;
/** Short-lived objects, in megabytes. V8's higher default would only touch more memory. */
const youngMb = 4;
const threadFile = import.meta.url.endsWith(".js") ? "./reader-thread.js" : "./reader-thread.ts";

// A terminal or a supervisor signals all processes, but the service ends its readers when its requests are done.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
const thread = new Worker(new URL(threadFile, import.meta.url), {
  resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: youngMb },
});
thread.on("error", end);
thread.on("exit", end);
const takeChunk = createFrames((body) => thread.postMessage(body));
process.stdin.on("data", takeChunk);
process.stdin.on("error", end);
process.stdin.on("end", end);

/** On Node.js, `exit` would wait for the statement that is running. */
function end(): void {
  try {
    process.kill(process.pid, "SIGKILL");
  } catch {
    // A runtime that does not allow signals ends at once.
  }
  process.exit(1);
}
