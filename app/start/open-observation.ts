/**
 * Which watchers a process has: some by its environment, others by the project.json of each project. What needs a
 * package of its own is loaded only where it is switched on.
 */
import type { ProjectConfig } from "../../core/config/read-config.ts";
import type { Log } from "../../core/plans/ports.ts";
import { createObservation, type Observation } from "../observe/observation.ts";
import { watchTimes } from "../observe/server-timing.ts";
import { watchSlowStatements, watchStatements } from "../observe/statement-log.ts";
import type { Watcher } from "../observe/watcher.ts";
import type { Settings } from "./env.ts";

export interface OpenObservationOptions {
  readonly settings: Pick<Settings, "logLevel">;
  readonly log: Log;
  /** Further watchers; absent: none. */
  readonly watchers?: readonly Watcher[] | undefined;
}

/** What watches the whole process. Rejects with an Error that says what is wrong with the settings. */
export async function openObservation({
  settings: { logLevel },
  log,
  watchers = [],
}: OpenObservationOptions): Promise<Observation> {
  return createObservation([...watchers, ...verbose(logLevel, log)]);
}

/** What watches a service on a runtime where nothing outlives a request: all but what sends its data elsewhere. */
export function observeEdge(
  { logLevel }: Pick<Settings, "logLevel">,
  configs: readonly ProjectConfig[],
  log: Log,
): Observation {
  return observeProjects(createObservation(verbose(logLevel, log)), configs, log);
}

const verbose = (logLevel: string, log: Log): Watcher[] =>
  logLevel === "debug" || logLevel === "trace" ? [watchStatements(log)] : [];

/** The same, with what `observe` of each project asks for. */
export function observeProjects(
  observation: Observation,
  configs: readonly ProjectConfig[],
  log: Log,
): Observation {
  const origins = new Map(
    configs.flatMap(({ name, observe, cors }) =>
      observe.serverTiming ? [[name, cors.origins] as const] : [],
    ),
  );
  const slowMs = new Map(
    configs.flatMap(({ name, observe: { slowStatementMs } }) =>
      slowStatementMs === undefined ? [] : [[name, slowStatementMs] as const],
    ),
  );
  return observation.beside([
    ...(origins.size > 0 ? [watchTimes(origins)] : []),
    ...(slowMs.size > 0 ? [watchSlowStatements(slowMs, log)] : []),
  ]);
}
