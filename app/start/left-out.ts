/** Tells the log which endpoints are left out because of a fault in their configuration. */
import { type Fault, faultLine } from "../../core/config/faults.ts";
import type { ProjectConfig } from "../../core/config/read-config.ts";
import type { Log } from "../../core/plans/ports.ts";

/** One line for each fault. */
export function logLeftOut(
  { name: project }: Pick<ProjectConfig, "name">,
  faults: readonly Fault[],
  log: Log,
): void {
  for (const fault of faults)
    log.error({ project }, `An endpoint is left out and answers 503: ${faultLine(fault)}`);
}
