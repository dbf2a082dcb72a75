/** Starts threads of this process, with bounds on their memory. */
import { Worker } from "node:worker_threads";

/** What a thread gets, and how much memory it may use. */
export interface ThreadOptions {
  /** Copied into the thread, which finds it as `workerData`. */
  readonly data: unknown;
  /** Memory of the heap, in megabytes. */
  readonly heapMb: number;
  /** Memory for objects that live for a short time, in megabytes. Default: what the runtime chooses. */
  readonly youngMb?: number;
  /** True: the caller ends the thread after a while, so that are not waited for ever when it died without a word. */
  readonly hasTimeout?: boolean;
}

/** `program`: the file whose code the thread runs. A thread that needs more memory than it may have ends. */
export function startThread(
  program: URL,
  { data, heapMb, youngMb, hasTimeout = false }: ThreadOptions,
): Worker {
  // Deno ends such a thread and emits no event (denoland/deno#26156), so that its work would go on for ever. Bun has no bounds.
  const isBounded = hasTimeout || !("Deno" in globalThis);
  return new Worker(built(program), {
    workerData: data,
    ...(isBounded && {
      resourceLimits: {
        maxOldGenerationSizeMb: heapMb,
        ...(youngMb !== undefined && { maxYoungGenerationSizeMb: youngMb }),
      },
    }),
  });
}

/** In the npm package, sources are JavaScript. */
const built = (program: URL): URL =>
  import.meta.url.endsWith(".js") ? new URL(program.href.replace(/\.ts$/, ".js")) : program;
