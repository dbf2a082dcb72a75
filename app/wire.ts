/**
 * From configuration files and environment to a running service, for the runtimes that have sockets and files. The only
 * place that knows both the HTTP edge and the databases. Entries and tests call `openService`.
 */
import { hash } from "node:crypto";
import type { Hono } from "hono";
import { actionNames } from "../core/actions.ts";
import { type Cache, createCache } from "../core/cache.ts";
import type { ImportComponent } from "../core/config/components-plan.ts";
import { compileProject } from "../core/config/compile.ts";
import { formatFaults, type Fault } from "../core/config/faults.ts";
import { type ConfigFiles, type ProjectConfig, readConfig } from "../core/config/read.ts";
import { bindProject, type Project } from "../core/dispatch.ts";
import { AppError } from "../core/errors.ts";
import { createLocks } from "../core/locks.ts";
import { databaseOf, openDb } from "../db/open.ts";
import { parseEnv, type Settings } from "./env.ts";
import { createApp } from "./http.ts";
import { createLog, type Logger } from "./log.ts";
import { type Jobs, openJobs } from "./open-jobs.ts";
import { createBackground, type ProcessBackground } from "./outbound/background.ts";
import { createOutbound, type OutboundOptions } from "./outbound/client.ts";
import { openStores, type Stores } from "./stores/open.ts";

export interface ServiceOptions {
  readonly files: ConfigFiles;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log?: Logger;
  /** Loads the files under `components/`; absent: a configuration with handlers is refused. */
  readonly importComponent?: ImportComponent;
}

export interface Service {
  readonly app: Hono;
  readonly settings: Settings;
  readonly log: Logger;
  readonly projects: readonly ProjectConfig[];
  /** Resolves when every project's database was seen and its configuration compiled; rejects with ConfigError. */
  readonly ready: Promise<void>;
  /** Jobs that run in this process stop at a safe point; requests are still answered. */
  stopJobs(): Promise<void>;
  /** Hooks that nobody waits for may go on until this moment (of `performance.now()`); absent: they are given up. */
  close(hooksUntilMs?: number): Promise<void>;
}

/** Everything that is wrong with the configuration, in one message. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    super(formatFaults(faults));
    this.faults = faults;
  }
}

/** Waits between two looks at a database that is out of reach: the first, and the longest after doubling. */
const retryDelayMs = { first: 250, longest: 5_000 };

/**
 * Opens the service. Rejects with ConfigError for every fault that can be seen now; a project whose database is out of
 * reach is looked at again until it is there, and answers 503 meanwhile.
 */
export async function openService({
  files,
  env,
  log: givenLog,
  importComponent,
}: ServiceOptions): Promise<Service> {
  const settings = parseEnv(env);
  const log = givenLog ?? createLog(settings.logLevel);
  const { projects: configs, faults } = readConfig(files, env);
  const stores = await openStores(settings.redisUrl);
  const cache = createCache({ store: stores.cache, digest, log });
  const raise = (names: readonly string[]) => stores.cache.raise(names);
  // A configuration with faults is not served, so no job of an earlier process goes on either.
  const projects = faults.length > 0 ? [] : configs;
  const opening = openJobs({ projects, settings, files, env, log, raise });
  const jobs = await opening.catch((error: unknown) => {
    cache.close();
    stores.close();
    throw error;
  });
  let app: Hono | null = null;
  const own: OutboundOptions["own"] = (request) => app!.fetch(request);
  const parts = { cache, locks: stores.locks, jobs, importComponent, own, log };
  const opened = await Promise.all(configs.map((config) => openProject(config, parts)));
  const close = async (hooksUntilMs = 0) => {
    for (const { stop } of opened) stop.abort();
    await Promise.all(opened.map(({ background }) => background.drain(hooksUntilMs)));
    await jobs.close();
    await Promise.all(opened.map(({ project }) => project.db.close()));
    cache.close();
    stores.close();
  };

  const looks = await Promise.all(opened.map((one) => compileOnce(one, log)));
  const found = [...faults, ...looks.flatMap((look) => (look === "unreachable" ? [] : look))];
  if (found.length > 0) {
    await close();
    throw new ConfigError(found);
  }
  const late = opened.filter((_, at) => looks[at] === "unreachable");
  const ready = Promise.all(late.map((one) => compileLater(one, log))).then(() => undefined);
  // Whoever does not wait for it must not crash the process; the entries do wait.
  ready.catch(() => undefined);

  app = createApp({
    projects: new Map(opened.map(({ project }) => [project.name, project])),
    now: () => new Date().toISOString(),
    newId: () => crypto.randomUUID(),
    bodyLimitBytes: settings.bodyLimitBytes,
    corsOrigins: new Map(
      configs.flatMap(({ name, cors }) => (cors.origins.length > 0 ? [[name, cors.origins]] : [])),
    ),
    pingRedis: stores.ping,
    log,
  });
  return { app, settings, log, projects: configs, ready, stopJobs: jobs.stopRunning, close };
}

/** All faults of the files, and of what they say about databases; `unreachable` names projects whose database did not answer. */
export async function checkConfig({ files, env, importComponent }: ServiceOptions): Promise<{
  faults: readonly Fault[];
  unreachable: readonly string[];
  endpoints: number;
}> {
  const log = createLog("silent");
  const { projects: configs, faults } = readConfig(files, env);
  const stores = await openStores(null);
  const cache = createCache({ store: stores.cache, digest, log });
  const settings = parseEnv(env);
  const raise = async () => undefined;
  // Without projects nothing is opened.
  const jobs = await openJobs({ projects: [], settings, files, env, log, raise });
  const own = () => new Response(null, { status: 503 });
  const parts = { cache, locks: stores.locks, jobs, importComponent, own, log };
  const opened = await Promise.all(configs.map((config) => openProject(config, parts)));
  const looks = await Promise.all(opened.map((one) => compileOnce(one, log)));
  await Promise.all(opened.map(({ project }) => project.db.close()));
  return {
    faults: [...faults, ...looks.flatMap((look) => (look === "unreachable" ? [] : look))],
    unreachable: configs.filter((_, at) => looks[at] === "unreachable").map(({ name }) => name),
    endpoints: opened.reduce((sum, { project }) => sum + (project.routes?.endpoints.size ?? 0), 0),
  };
}

interface OpenProject {
  readonly config: ProjectConfig;
  readonly project: Project;
  readonly background: ProcessBackground;
  readonly importComponent: ImportComponent | undefined;
  readonly stop: AbortController;
}

interface ProjectParts {
  readonly cache: Cache;
  readonly locks: Stores["locks"];
  readonly jobs: Jobs;
  readonly importComponent: ImportComponent | undefined;
  readonly own: OutboundOptions["own"];
  readonly log: Logger;
}

const digest = (text: string): string => hash("sha256", text);

async function openProject(
  config: ProjectConfig,
  { cache, locks: openStore, jobs, importComponent, own, log }: ProjectParts,
): Promise<OpenProject> {
  const { url, pool, statementTimeoutMs } = config.database;
  const db = await openDb(url, {
    connectionsMax: pool,
    statementTimeoutMs,
    decimals: config.decimals,
  });
  const outbound = createOutbound({ allowedHosts: config.hooks.allowedHosts, own });
  const background = createBackground(outbound, log);
  const project = {
    name: config.name,
    db,
    cache: cache.forProject({ database: databaseOf(url), ...config.cache }),
    locks: createLocks({
      store: openStore(config.name),
      settings: config.locking,
      digest,
      newId: () => crypto.randomUUID(),
    }),
    outbound,
    background,
    jobs: jobs.forProject(config),
    routes: null,
  };
  return { config, project, background, importComponent, stop: new AbortController() };
}

/** Compiles the project if its database answers, and puts its routes in place if there is no fault. */
async function compileOnce(
  { config, project, importComponent }: OpenProject,
  log: Logger,
): Promise<readonly Fault[] | "unreachable"> {
  try {
    const compiled = await compileProject(config, project.db.catalog, {
      actions: actionNames,
      importComponent,
    });
    if (compiled.faults.length > 0) return compiled.faults;
    for (const notice of compiled.notices) log.warn({ project: config.name }, notice);
    project.routes = bindProject(compiled.entities, project);
    return [];
  } catch (error) {
    if (!(error instanceof AppError && error.kind === "unavailable")) throw error;
    log.warn(
      { project: config.name, err: error.cause ?? error },
      "The database is not reachable; trying again",
    );
    return "unreachable";
  }
}

async function compileLater(one: OpenProject, log: Logger): Promise<void> {
  for (let delayMs = retryDelayMs.first; ; delayMs = Math.min(delayMs * 2, retryDelayMs.longest)) {
    await pause(delayMs, one.stop.signal);
    if (one.stop.signal.aborted) return;
    const look = await compileOnce(one, log);
    if (look === "unreachable") continue;
    if (look.length > 0) throw new ConfigError(look);
    log.info({ project: one.config.name }, "The database is reachable; the project is served");
    return;
  }
}

/** Ends early when the signal says so; keeps no process alive. */
function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, delayMs);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
