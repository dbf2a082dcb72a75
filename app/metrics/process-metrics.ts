/**
 * The metrics of the process itself, under the names that prom-client gives them in every Node.js service: memory, CPU,
 * delay of the event loop, garbage collection, open files. The library is loaded by the first request for metrics,
 * because it takes 9 MB and some 40 ms.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Registry } from "prom-client";

/** Gives their text in the exposition format. */
export type ProcessMetrics = () => Promise<string>;

/** Nothing is loaded or measured before the first call. */
export function createProcessMetrics(): ProcessMetrics {
  let opening: Promise<Registry> | null = null;
  return async () => {
    const registry = await (opening ??= openRegistry());
    return registry.metrics();
  };
}

async function openRegistry(): Promise<Registry> {
  const { collectDefaultMetrics, Registry: OwnRegistry } = await import("prom-client");
  const registry = new OwnRegistry();
  collectDefaultMetrics({ register: registry });
  // The delay of the event loop has no value before it was measured a few times, every 10 ms.
  await pause(50);
  return registry;
}
