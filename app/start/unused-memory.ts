/**
 * Returns unused memory of the process to the system. V8 keeps it until memory is short: after the start, and after a
 * load, when up to 130 MB for young objects remain while there are no requests.
 */
import { performance } from "node:perf_hooks";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

interface CollectOptions {
  readonly type: "major";
  readonly execution: "sync";
  readonly flavor: "last-resort";
}

const checkMs = 5_000;
/** The first check, of what the start has used. */
const firstCheckMs = 1_000;
/** A process counts as quiet if it has computed for less than this part of the time since the last check. */
const quietShare = 0.02;
/** The minimum growth of the heap, because a collection delays requests for about a tenth of a second. */
const worthBytes = 16 * 1024 ** 2;

/**
 * Collects all garbage as soon as the process is quiet, and again whenever it is and its heap has grown by 16 MB since.
 * To be called when the start is over, which needs no collection of its own: it would delay the first requests. Does
 * nothing on other runtimes.
 */
export function releaseUnusedMemory(): void {
  if ("Bun" in globalThis || "Deno" in globalThis) return;
  let keptBytes = 0;
  let before = performance.eventLoopUtilization();
  const check = (): void => {
    const { utilization } = performance.eventLoopUtilization(before);
    if (utilization < quietShare && heapBytes() - keptBytes > worthBytes) {
      collect();
      keptBytes = heapBytes();
    }
    before = performance.eventLoopUtilization();
  };
  setTimeout(check, firstCheckMs).unref();
  setInterval(check, checkMs).unref();
}

const heapBytes = (): number => getHeapStatistics().total_heap_size;

/** The only kind of collection after which V8 keeps no empty pages. */
function collect(): void {
  setFlagsFromString("--expose-gc");
  const run = runInNewContext("gc") as (options: CollectOptions) => void;
  setFlagsFromString("--no-expose-gc");
  run({ type: "major", execution: "sync", flavor: "last-resort" });
}
