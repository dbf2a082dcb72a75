/**
 * Opens everything that jobs need, from configuration and environment: databases with the time-out of jobs and few
 * connections, files, and the cache to invalidate after writes.
 */
import { type Cache, createCache } from "../../../core/cache/cache.ts";
import { hasAuth } from "../../../core/config/compiling/survey.ts";
import type { Access } from "../../../core/callers/access.ts";
import { type CompiledProject, compileProject } from "../../../core/config/compile-project.ts";
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
import { createLocks } from "../../../core/locks/locks.ts";
import type { Runtime } from "../../../core/plans/runtime.ts";
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
import type { Stores } from "../../stores/stores.ts";

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
  /** Without Redis: the locks that clients hold; absent: the process shares none with the service. */
  readonly locks?: Stores["locks"] | undefined;
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
  locks,
}: JobWorldOptions): Promise<OpenedJobWorld> {
  const { redisUrl, storage } = parseEnv(env);
  const runtime = createRuntime(log);
  const { projects: configs } = readConfig(files, env);
  const stores = await openStores(redisUrl);
  const store = redisUrl === null ? onlyRaising(stores.cache, raise) : stores.cache;
  const cache = createCache({ ...runtime, store });
  const observation = observeProjects(given, configs, log);
  const locksOf = (redisUrl === null ? locks : null) ?? stores.locks;
  const parts = { runtime, locksOf, cache, importComponent, access, observation };
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
  readonly runtime: Runtime;
  readonly locksOf: Stores["locks"];
  readonly cache: Cache;
  readonly importComponent: ImportComponent | undefined;
  readonly access: Access | undefined;
  readonly observation: Observation;
}

async function openProject(
  config: ProjectConfig,
  { runtime, locksOf, cache, importComponent: importFile, access, observation }: ProjectParts,
): Promise<JobProject> {
  const { database, locking: settings } = config;
  const { url, pool } = database;
  const store = locksOf(config.name);
  const observer = observation.db(config.name);
  const importComponent = importFile && observation.components(importFile);
  const db = await openDb(url, {
    ...databaseOptions(config, readText),
    ...(observer && { observer }),
    connectionsMax: Math.min(pool, limits.jobConnectionsMax),
    isForJobs: true,
    statementTimeoutMs: config.jobs.statementTimeoutMs,
    // The next job, or the next run of this one, looks at the tables again.
    onSchemaDoubt: () => forget(),
  });

  async function compile(): Promise<Compiled> {
    const endpoints = config.endpoints.map(withOwnHandlers);
    const compiled = await compileProject({ ...config, endpoints }, db.catalog, {
      importComponent,
    });
    // Without its handlers, an import would store rows that the handlers refuse.
    const faults = compiled.faults.filter(({ path }) => path.startsWith("components"));
    if (faults.length > 0) throw new Error(formatFaults(faults));
    return compiled;
  }

  /** Of all endpoints, whichever a job is of: most of what a file says are rules of its table. */
  const wholeProject = openedOnce(compile);
  const forget = (): void => wholeProject.forget();

  return {
    name: config.name,
    db,
    cache: cache.forProject({ database: databaseOf(url), ...config.cache }),
    entities: async () => (await wholeProject()).entities,
    locks: settings.enforceResourceLocks
      ? createLocks({ ...runtime, store, ownStore: store, db, settings })
      : null,
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
