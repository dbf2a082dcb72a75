/** The projects of a configuration folder, checked against what their kinds of database can do. */
import { faultAt } from "../../../core/config/reading/document.ts";
import type { Environment } from "../../../core/config/reading/environment.ts";
import { type Fault, faultLine, sortFaults } from "../../../core/config/reading/faults.ts";
import {
  type ConfigFiles,
  type ProjectConfig,
  readConfig,
} from "../../../core/config/reading/read-config.ts";
import type { Log } from "../../../core/plans/log-port.ts";
import type { databaseFaults } from "../../../db/open.ts";

/** Projects that can be compiled, and the faults of the files that prevent serving them. */
export interface ReadProjects {
  readonly projects: readonly ProjectConfig[];
  readonly faults: readonly Fault[];
}

/** As `readConfig`, without projects whose database cannot be opened. `faultsOf`: of the databases known here. */
export function readProjects(
  { files, env }: { files: ConfigFiles; env: Environment },
  faultsOf: typeof databaseFaults,
): ReadProjects {
  const { projects, faults } = readConfig(files, env);
  const found = new Map(
    projects.map((config) => {
      const { document, database } = config;
      return [
        config,
        faultsOf(database.url, database).map(({ setting, ...about }) =>
          faultAt(document, ["database", setting], about),
        ),
      ] as const;
    }),
  );
  return {
    projects: projects.filter((config) => found.get(config)!.length === 0),
    faults: sortFaults([...faults, ...[...found.values()].flat()]),
  };
}

/** Logs which endpoints, tiles of the dashboard and webhooks are left out because of a fault in their configuration: one line for each fault. */
export function logLeftOut(
  { name: project }: Pick<ProjectConfig, "name">,
  faults: readonly Fault[],
  log: Log,
): void {
  for (const fault of faults)
    log.error(
      { project },
      fault.file.endsWith("/dashboard.json")
        ? `A tile of the dashboard is left out: ${faultLine(fault)}`
        : fault.file.endsWith("/project.json")
          ? `A webhook is left out: ${faultLine(fault)}`
          : `An endpoint is left out and answers 503: ${faultLine(fault)}`,
    );
}
