/**
 * What all requests of one isolate share, without any connections: the configuration, the compiled plans, and what is
 * known about each database. A request that finds no plan compiles one over its own connections, because it must not
 * wait for another request's connection. The first result is kept.
 */
import { createReach, type Reach } from "../../../core/cache/reach.ts";
import type { ImportComponent } from "../../../core/config/compiling/components-plan.ts";
import { type KnownKeys, noKeysYet } from "../../callers/key-set.ts";
import { type Fault, formatFaults } from "../../../core/config/reading/faults.ts";
import type { ConfigFiles, ProjectConfig } from "../../../core/config/reading/read-config.ts";
import { riskText, settingsRisks } from "../../../core/config/checking/risks.ts";
import type { Routes } from "../../../core/dispatch.ts";
import { limits } from "../../../core/values/limits.ts";
import type { Db, SchemaWatch } from "../../../core/plans/db-port.ts";
import { openPerRequest, remoteSettingFaults } from "../../../db/open-remote.ts";
import { countersReach } from "../../stores/fallback-counters.ts";
import { parseEnv, type Settings } from "../settings/env.ts";
import { forwardTrace, logWatchers, observeProjects } from "../observing/observe-projects.ts";
import { createObservation, type Observation } from "../../observe/observation.ts";
import { lookAt } from "../opening/open-project.ts";
import type { Runtime } from "../../../core/plans/runtime.ts";
import { createRuntime } from "../settings/create-runtime.ts";
import { databaseOptions } from "../settings/project-settings.ts";
import { logLeftOut, readProjects } from "../settings/read-projects.ts";
import type { BoundEnvironment } from "./bindings.ts";
import { createDoubts } from "./doubts.ts";
import { edgeFaults } from "./edge-faults.ts";
import { createConsoleLog } from "./console-log.ts";

export interface InstallationOptions {
  readonly files: ConfigFiles;
  readonly environment: BoundEnvironment;
  readonly importComponent: ImportComponent;
}

export interface Installation {
  readonly settings: Settings;
  readonly configs: readonly ProjectConfig[];
  readonly runtime: Runtime;
  /** The watchers of all requests. */
  readonly observation: Observation;
  /** The signing keys of the project's token issuer that earlier requests fetched. */
  keysOf(config: ProjectConfig): KnownKeys;
  /** Whether the counters in Redis are reachable. */
  readonly countersReach: Reach;
  /** Addresses of databases that only one project has. */
  readonly pooled: BoundEnvironment["pooled"];
  /** Opens a database for one request, to be closed with it. Rejects with Refusal when its address is invalid. */
  openDb(config: ProjectConfig): Promise<Db>;
  /** Notices that the tables of the project have changed; the next request then compiles it again. */
  schemaOf(config: ProjectConfig): SchemaWatch;
  /** Null while the database does not answer. Rejects with Refusal. */
  routesOf(config: ProjectConfig, db: Db): Promise<Routes | null>;
}

/** The configuration is not valid. The message contains all faults, for the log. */
export class Refusal extends Error {
  override readonly name = "Refusal";
}

/** Throws a Refusal with every fault that can be found without a database. */
export function readInstallation({
  files,
  environment: { env, pooled },
  importComponent,
}: InstallationOptions): Installation | Refusal {
  const settings = settingsFrom(env);
  if (settings instanceof Refusal) return settings;
  const log = createConsoleLog(settings.logLevel);
  const { projects, faults } = readProjects({ files, env }, remoteSettingFaults);
  const found = [
    ...faults,
    ...projects.flatMap((config) => edgeFaults(config, { settings, pooled })),
  ];
  if (found.length > 0) return refusalOf(found);
  const watching = createObservation([
    ...logWatchers(settings.logLevel, log),
    ...(settings.traces ? [forwardTrace] : []),
  ]);
  const observation = observeProjects(watching, projects, log);
  const openers = new Map<string, () => Db>();
  const routes = new Map<string, Routes>();
  const doubts = createDoubts();
  const keys = new Map<string, KnownKeys>();

  return {
    settings,
    configs: projects.map(withoutCache),
    runtime: createRuntime(log),
    observation,
    pooled,
    countersReach: createReach({ log, ...countersReach }),
    keysOf({ name }) {
      const known = keys.get(name) ?? noKeysYet();
      keys.set(name, known);
      return known;
    },
    async openDb(config) {
      const { name, database } = config;
      const known = openers.get(name);
      if (known) return known();
      const connectionsMax = Math.min(database.pool, limits.requestConnectionsMax);
      const observer = observation.db(name);
      const observed = observer && { observer };
      const options = { ...databaseOptions(config), connectionsMax, ...observed };
      const open = await openPerRequest(database.url, options).catch((error: Error) => {
        throw new Refusal(`${name}: ${error.message}`, { cause: error });
      });
      if (!openers.has(name)) openers.set(name, open);
      return openers.get(name)!();
    },
    schemaOf: ({ name }) =>
      doubts.watchOf(name, () => {
        routes.delete(name);
      }),
    async routesOf(config, { catalog }) {
      const known = routes.get(config.name);
      if (known) return known;
      const handlers = observation.components(importComponent);
      const look = await lookAt(config, { catalog, importComponent: handlers, hasStreams: false });
      if ("unreachable" in look) {
        const about = { project: config.name, err: look.unreachable };
        log.warn(about, "The database is not reachable; the next request tries again");
        return null;
      }
      // Once it was served, a project whose tables have changed is served without the endpoints that no longer fit.
      if (look.faults.length > 0 && config.onFault === "stop" && !doubts.knows(config.name))
        throw refusalOf(look.faults);
      if (!routes.has(config.name)) {
        doubts.saw(config.name, look.shape);
        logLeftOut(config, look.faults, log);
        routes.set(config.name, look.routes);
        const risks = [...settingsRisks(config, { openBy: "a Worker is public" }), ...look.risks];
        for (const warning of [...look.notices, ...risks.map(riskText)])
          log.warn({ project: config.name }, warning);
      }
      return routes.get(config.name)!;
    },
  };
}

function settingsFrom(env: Readonly<Record<string, string>>): Settings | Refusal {
  try {
    return parseEnv(env);
  } catch (error) {
    return new Refusal((error as Error).message);
  }
}

const refusalOf = (faults: readonly Fault[]): Refusal => new Refusal(formatFaults(faults));

/** Connecting to a store for each request costs more than most lists. */
const withoutCache = (config: ProjectConfig): ProjectConfig => ({
  ...config,
  cache: { ...config.cache, enabled: false },
});
