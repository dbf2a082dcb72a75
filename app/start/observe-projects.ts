/** The watchers that need no packages: for the log, and what `observe` in the project.json of each project asks for. */
import type { ProjectConfig } from "../../core/config/read-config.ts";
import type { Log } from "../../core/plans/ports.ts";
import type { Observation } from "../observe/observation.ts";
import { watchTimes } from "../observe/server-timing.ts";
import { watchSlowStatements, watchStatements } from "../observe/statement-log.ts";
import type { Watcher } from "../observe/watcher.ts";

/** What a log level asks for. */
export const logWatchers = (logLevel: string, log: Log): readonly Watcher[] =>
  logLevel === "debug" || logLevel === "trace" ? [watchStatements(log)] : [];

/** The same observation, with what `observe` of each project asks for. */
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
