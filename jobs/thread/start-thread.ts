/** Starts threads of this process, with limits on their memory. */
import { Worker } from "node:worker_threads";

/** The input of a thread, and its memory limits. */
export interface ThreadOptions {
  /** Copied into the thread, which finds it as `workerData`. */
  readonly data: unknown;
  /** Memory of the heap, in megabytes. */
  readonly heapMb: number;
  /** Memory for short-lived objects, in megabytes. Default: that of the runtime. */
  readonly youngMb?: number;
  /** True: the caller ends the thread after a time, so a thread that died silently is not waited for forever. */
  readonly hasTimeout?: boolean;
}

/** `program`: the file whose code the thread runs. A thread that exceeds its memory limit ends. */
export function startThread(
  program: URL,
  { data, heapMb, youngMb, hasTimeout = false }: ThreadOptions,
): Worker {
  // Deno ends such a thread without an event (denoland/deno#26156), so its work would never end. Bun has no limits.
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
