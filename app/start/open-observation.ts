/** Which watchers a process has, by its settings. Each is loaded only where it is switched on. */
import { createObservation, type Observation } from "../observe/observation.ts";
import type { Watcher } from "../observe/watcher.ts";

export interface OpenObservationOptions {
  /** Further watchers; absent: none. */
  readonly watchers?: readonly Watcher[] | undefined;
}

/** Rejects with an Error that says what is wrong with the settings. */
export async function openObservation({
  watchers = [],
}: OpenObservationOptions): Promise<Observation> {
  return createObservation(watchers);
}
