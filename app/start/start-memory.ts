/** Returns the memory that the start has used and needs no more. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

interface CollectOptions {
  readonly type: "major";
  readonly execution: "sync";
  readonly flavor: "last-resort";
}

/**
 * One whole garbage collection. The files and plans of hundreds of endpoints pass through ten times the memory that they
 * keep, and V8 holds on to that until memory is short. Takes about a tenth of a second; does nothing on other runtimes.
 */
export function releaseStartMemory(): void {
  if ("Bun" in globalThis || "Deno" in globalThis) return;
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (options: CollectOptions) => void;
  setFlagsFromString("--no-expose-gc");
  collect({ type: "major", execution: "sync", flavor: "last-resort" });
}
