/** The projects of a configuration folder, held against what their kinds of database can do. */
import { faultAt } from "../../core/config/document.ts";
import type { Environment } from "../../core/config/environment.ts";
import { type Fault, sortFaults } from "../../core/config/faults.ts";
import { type ConfigFiles, type ProjectConfig, readConfig } from "../../core/config/read-config.ts";
import type { databaseFaults } from "../../db/open.ts";

/** Projects that can be compiled, and the faults of the files that prevent serving them. */
export interface ReadProjects {
  readonly projects: readonly ProjectConfig[];
  readonly faults: readonly Fault[];
}

/** As `readConfig`; a project whose database cannot be opened as the file says is left out too. `faultsOf`: of the databases that are known here. */
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
