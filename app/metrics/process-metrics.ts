/**
 * The metrics of the process itself, under the names that prom-client gives them in every Node.js service: memory, CPU,
 * delay of the event loop, garbage collection, open files. The library is loaded by the first request for metrics,
 * because it takes 9 MB and some 40 ms.
 */
import { setTimeout as pause } from "node:timers/promises";
import { openedOnce } from "../../core/values/opened-once.ts";
import type { Registry } from "prom-client";

/** Gives their text in the exposition format. */
export type ProcessMetrics = () => Promise<string>;

/** Nothing is loaded or measured before the first call. */
export function createProcessMetrics(): ProcessMetrics {
  const registry = openedOnce(openRegistry);
  return async () => (await registry()).metrics();
}

async function openRegistry(): Promise<Registry> {
  const library = await import("prom-client");
  const registry = new library.Registry();
  library.collectDefaultMetrics({ register: registry });
  if ("Deno" in globalThis) correctForDeno(registry, library);
  // The event loop's delay, measured every 10 ms, has no value before a few measurements.
  await pause(50);
  return registry;
}

/** On Deno the library cannot read these from the system, and reports 0. */
function correctForDeno(registry: Registry, { Gauge }: typeof import("prom-client")): void {
  const resident = "process_resident_memory_bytes";
  for (const name of [
    resident,
    "process_virtual_memory_bytes",
    "process_heap_bytes",
    "process_open_fds",
    "process_max_fds",
  ])
    registry.removeSingleMetric(name);
  new Gauge({
    name: resident,
    help: "Resident memory size in bytes.",
    registers: [registry],
    collect() {
      this.set(process.memoryUsage().rss);
    },
  });
}
