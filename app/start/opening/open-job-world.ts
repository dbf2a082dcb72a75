/**
 * Opens everything that jobs need, from configuration and environment: databases with the time-out of jobs and few
 * connections, files, and the cache to invalidate after writes.
 */
import { type Cache, createCache } from "../../../core/cache/cache.ts";
import { hasAuth } from "../../../core/config/compiling/survey.ts";
import type { Access } from "../../../core/callers/access.ts";
import { type CompiledProject, compileProject } from "../../../core/config/compile-project.ts";
import { hasCalculation } from "../../../core/config/checking/document-rules.ts";
import { softDeleteConfig } from "../../../core/config/compiling/soft-delete-plan.ts";
import type { ImportComponent } from "../../../core/config/compiling/components-plan.ts";
import { formatFaults } from "../../../core/config/reading/faults.ts";
import {
  type ConfigFiles,
  type EndpointConfig,
  type ProjectConfig,
  readConfig,
} from "../../../core/config/reading/read-config.ts";
import { openedOnce } from "../../../core/values/opened-once.ts";
import { limits } from "../../../core/values/limits.ts";
import type { CacheStore } from "../../../core/cache/cache-store.ts";
import type { Log } from "../../../core/plans/log-port.ts";
import { databaseOf, openDb } from "../../../db/open.ts";
import { openFiles } from "../../../jobs/files/open-files.ts";
import type { JobProject, JobWorld } from "../../../jobs/job/job-context.ts";
import { readText } from "../settings/config-files.ts";
import { createObservation, type Observation } from "../../observe/observation.ts";
import { createRuntime } from "../settings/create-runtime.ts";
import { parseEnv } from "../settings/env.ts";
import { observeProjects } from "../observing/observe-projects.ts";
import { accessFor, databaseOptions } from "../settings/project-settings.ts";
import { openStores } from "../../stores/open-stores.ts";

export interface JobWorldOptions {
  readonly files: ConfigFiles;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** Loads the files under `components/` when the rows of an import have handlers. */
  readonly importComponent?: ImportComponent | undefined;
  /** What callers of jobs may do; absent: as configured. */
  readonly access?: Access | undefined;
  /** Absent: the statements of jobs are not watched. */
  readonly observation?: Observation | undefined;
  /** Without Redis: informs the cache of the process about writes. */
  raise(names: readonly string[]): Promise<void>;
}

/** Everything that the runs of jobs need. */
export interface OpenedJobWorld {
  readonly world: JobWorld;
  /** That of the process, with what the projects ask for. */
  readonly observation: Observation;
  /** Ends all connections. */
  close(): Promise<void>;
}

/** The next job retries a database that was unreachable. */
export async function openJobWorld({
  files,
  env,
  log,
  importComponent,
  access,
  observation: given = createObservation([]),
  raise,
}: JobWorldOptions): Promise<OpenedJobWorld> {
  const { redisUrl, storage } = parseEnv(env);
  const runtime = createRuntime(log);
  const { projects: configs } = readConfig(files, env);
  const stores = await openStores(redisUrl);
  const store = redisUrl === null ? onlyRaising(stores.cache, raise) : stores.cache;
  const cache = createCache({ ...runtime, store });
  const observation = observeProjects(given, configs, log);
  const parts = { cache, importComponent, access, observation };
  const projects = await Promise.all(configs.map((config) => openProject(config, parts)));
  const kept = await openFiles(storage);
  const world: JobWorld = {
    projects: new Map(projects.map((project) => [project.name, project])),
    files: kept,
    ...runtime,
  };
  const close = async () => {
    await Promise.all(projects.map(({ db }) => db.close()));
    cache.close();
    stores.close();
    await kept.close();
  };
  return { world, observation, close };
}

/** Jobs cache no lists; they only raise versions. */
const onlyRaising = (own: CacheStore, raise: CacheStore["raise"]): CacheStore => ({
  ...own,
  raise,
});

type Compiled = Pick<CompiledProject, "entities" | "faulty">;

interface ProjectParts {
  readonly cache: Cache;
  readonly importComponent: ImportComponent | undefined;
  readonly access: Access | undefined;
  readonly observation: Observation;
}

async function openProject(
  config: ProjectConfig,
  { cache, importComponent: importFile, access, observation }: ProjectParts,
): Promise<JobProject> {
  const { url, pool } = config.database;
  const observer = observation.db(config.name);
  const importComponent = importFile && observation.components(importFile);
  const db = await openDb(url, {
    ...databaseOptions(config, readText),
    ...(observer && { observer }),
    connectionsMax: Math.min(pool, limits.jobConnectionsMax),
    statementTimeoutMs: config.jobs.statementTimeoutMs,
    // The next job, or the next run of this one, looks at the tables again.
    onSchemaDoubt: () => forget(),
  });

  async function compile(chosen: readonly EndpointConfig[]): Promise<Compiled> {
    const endpoints = chosen.map(withOwnHandlers);
    const compiled = await compileProject({ ...config, endpoints }, db.catalog, {
      importComponent,
    });
    // Without its handlers, an import would store rows that the handlers refuse.
    const faults = compiled.faults.filter(({ path }) => path.startsWith("components"));
    if (faults.length > 0) throw new Error(formatFaults(faults));
    return compiled;
  }

  /** What a caller may see of one endpoint can depend on the other endpoints. */
  const wholeProject = openedOnce(() => compile(config.endpoints));
  const oneByOne = new Map<string, () => Promise<Compiled>>();
  function forget(): void {
    wholeProject.forget();
    oneByOne.clear();
  }
  const relates = (endpoint: string): boolean =>
    config.endpoints.some(({ name, payload }) => name === endpoint && payload.relations);
  function compiledFor(endpoint: string): Promise<Compiled> {
    if (hasAuth(config) || relates(endpoint)) return wholeProject();
    let compiling = oneByOne.get(endpoint);
    if (compiling === undefined) {
      // Other endpoints also define which rows of other tables are deleted, what is computed of the rows, and
      // which changes are recorded.
      compiling = openedOnce(() =>
        compile(
          config.endpoints.filter(
            ({ name, payload }) =>
              name === endpoint ||
              softDeleteConfig(payload) !== null ||
              hasCalculation(payload) ||
              payload.history ||
              payload.files !== undefined ||
              payload.live,
          ),
        ),
      );
      oneByOne.set(endpoint, compiling);
    }
    return compiling();
  }

  return {
    name: config.name,
    db,
    cache: cache.forProject({ database: databaseOf(url), ...config.cache }),
    entities: async (endpoint) => (await compiledFor(endpoint)).entities,
    access: async () => {
      if (!hasAuth(config) || access) return accessFor(config, { entities: new Map(), access });
      const { entities, faulty } = await wholeProject();
      return accessFor(config, { entities: new Map([...entities, ...faulty]) });
    },
    batchRows: config.jobs.batchRows,
  };
}

/** Jobs load no handlers unless the rows of an import have them. */
function withOwnHandlers({ payload, ...endpoint }: EndpointConfig): EndpointConfig {
  const { components, ...rest } = payload;
  const isHandled = payload.importConfig?.runHooks === true;
  return { ...endpoint, payload: isHandled ? { ...rest, components } : rest };
}
