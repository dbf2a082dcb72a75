/** The watchers of a process, according to its environment. Packages are loaded only for those that are switched on. */
import type { Log } from "../../../core/plans/log-port.ts";
import { createObservation, type Observation } from "../../observe/observation.ts";
import type { Watcher } from "../../observe/watcher.ts";
import type { Settings } from "../settings/env.ts";
import { logWatchers } from "./observe-projects.ts";

export interface OpenObservationOptions {
  readonly settings: Pick<Settings, "logLevel" | "traces">;
  readonly log: Log;
  /** True: in the thread of jobs, whose process reports the jobs themselves. */
  readonly isThread?: boolean;
  /** Further watchers; absent: none. */
  readonly watchers?: readonly Watcher[] | undefined;
}

/** To be closed with the process. */
export async function openObservation({
  settings: { logLevel, traces },
  log,
  isThread = false,
  watchers = [],
}: OpenObservationOptions): Promise<Observation> {
  const found = [...watchers, ...logWatchers(logLevel, log)];
  if (traces !== null) {
    const { watchTraces } = await import("../../observe/traces.ts");
    found.push(watchTraces(traces, { log, isThread }));
  }
  return createObservation(found);
}
