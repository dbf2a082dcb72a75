/**
 * Opens what jobs need of a process, from configuration and environment: databases with the time-out of jobs and few connections, files,
 * and the cache that has to be told of writes.
 */
import { hash } from "node:crypto";
import { type Cache, createCache } from "../../core/cache/cache.ts";
import { hasAuth } from "../../core/config/survey.ts";
import type { Access } from "../../core/callers/access.ts";
import { compileProject } from "../../core/config/compile-project.ts";
import type { ImportComponent } from "../../core/config/components-plan.ts";
import { formatFaults } from "../../core/config/faults.ts";
import {
  type ConfigFiles,
  type EndpointConfig,
  type ProjectConfig,
  readConfig,
} from "../../core/config/read-config.ts";
import type { Entity } from "../../core/plans/entity.ts";
import { limits } from "../../core/values/limits.ts";
import type { CacheStore, Log } from "../../core/plans/ports.ts";
import { databaseOf, openDb } from "../../db/open.ts";
import { openFiles } from "../../jobs/files/open-files.ts";
import type { JobProject, JobWorld } from "../../jobs/job/job-context.ts";
import { readText } from "./config-files.ts";
import { parseEnv } from "./env.ts";
import { accessFor, databaseOptions } from "./open-project.ts";
import { openStores } from "../stores/open-stores.ts";

/** What a `JobWorld` is opened from. */
export interface JobWorldOptions {
  readonly files: ConfigFiles;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** Loads the files under `components/`, where the rows of an import have handlers. */
  readonly importComponent?: ImportComponent | undefined;
  /** What callers of jobs may do; absent: what the configuration says. */
  readonly access?: Access | undefined;
  /** Where there is no Redis: tells the cache of the process what was written. */
  raise(names: readonly string[]): Promise<void>;
}

/** A database that is out of reach is asked again by the next job. `close` ends all connections. */
export async function openJobWorld({
  files,
  env,
  log,
  importComponent,
  access,
  raise,
}: JobWorldOptions): Promise<{ world: JobWorld; close: () => Promise<void> }> {
  const { redisUrl, storage } = parseEnv(env);
  const { projects: configs } = readConfig(files, env);
  const stores = await openStores(redisUrl);
  const store = redisUrl === null ? onlyRaising(stores.cache, raise) : stores.cache;
  const cache = createCache({ store, digest: (text) => hash("sha256", text), log });
  const parts = { cache, importComponent, access };
  const projects = await Promise.all(configs.map((config) => openProject(config, parts)));
  const kept = await openFiles(storage);
  const world: JobWorld = {
    projects: new Map(projects.map((project) => [project.name, project])),
    files: kept,
    now: () => new Date().toISOString(),
    newId: () => crypto.randomUUID(),
    log,
  };
  const close = async () => {
    await Promise.all(projects.map(({ db }) => db.close()));
    cache.close();
    stores.close();
    await kept.close();
  };
  return { world, close };
}

/** Jobs keep no lists, so of the cache they need no more. */
const onlyRaising = (own: CacheStore, raise: CacheStore["raise"]): CacheStore => ({
  ...own,
  raise,
});

interface ProjectParts {
  readonly cache: Cache;
  readonly importComponent: ImportComponent | undefined;
  readonly access: Access | undefined;
}

async function openProject(
  config: ProjectConfig,
  { cache, importComponent, access }: ProjectParts,
): Promise<JobProject> {
  const { url, pool } = config.database;
  const db = await openDb(url, {
    ...databaseOptions(config, readText),
    connectionsMax: Math.min(pool, limits.jobConnectionsMax),
    statementTimeoutMs: config.jobs.statementTimeoutMs,
  });

  async function compile(chosen: readonly EndpointConfig[]): Promise<ReadonlyMap<string, Entity>> {
    const endpoints = chosen.map(withOwnHandlers);
    const compiled = await compileProject({ ...config, endpoints }, db.catalog, {
      importComponent,
    });
    // Without its handlers an import would store what they are there to refuse.
    const faults = compiled.faults.filter(({ path }) => path.startsWith("components"));
    if (faults.length > 0) throw new Error(formatFaults(faults));
    return compiled.entities;
  }

  /** What a caller sees of one endpoint may depend on what the others show. */
  const wholeProject = once(() => compile(config.endpoints));
  const oneByOne = new Map<string, () => Promise<ReadonlyMap<string, Entity>>>();
  function compiledFor(endpoint: string): Promise<ReadonlyMap<string, Entity>> {
    if (hasAuth(config)) return wholeProject();
    let compiling = oneByOne.get(endpoint);
    if (compiling === undefined) {
      compiling = once(() => compile(config.endpoints.filter(({ name }) => name === endpoint)));
      oneByOne.set(endpoint, compiling);
    }
    return compiling();
  }

  return {
    name: config.name,
    db,
    cache: cache.forProject({ database: databaseOf(url), ...config.cache }),
    entity: async (endpoint) => (await compiledFor(endpoint)).get(endpoint) ?? null,
    access: async () => {
      const entities = hasAuth(config) && !access ? await wholeProject() : new Map();
      return accessFor(config, { entities, access });
    },
    batchRows: config.jobs.batchRows,
  };
}

/** What `work` resolved with the first time; after a rejection it is asked again, as a database may have been out of reach. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | null = null;
  return () => {
    if (kept === null) {
      kept = work();
      kept.catch(() => void (kept = null));
    }
    return kept;
  };
}

/** Handlers belong to requests: a job loads none, unless the rows of an import have them. */
function withOwnHandlers({ payload, ...endpoint }: EndpointConfig): EndpointConfig {
  const { components, ...rest } = payload;
  const isHandled = payload.importConfig?.runHooks === true;
  return { ...endpoint, payload: isHandled ? { ...rest, components } : rest };
}
