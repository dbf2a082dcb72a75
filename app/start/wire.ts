/**
 * From configuration files and environment to a running service, for the runtimes that have sockets and files. The only
 * place that knows both the HTTP edge and the databases. Entries and tests call `openService`.
 */
import { hash } from "node:crypto";
import type { Hono } from "hono";
import { type Cache, createCache } from "../../core/cache/cache.ts";
import type { Callers } from "../../core/callers/callers.ts";
import type { ImportComponent } from "../../core/config/components-plan.ts";
import { formatFaults, type Fault } from "../../core/config/faults.ts";
import type { ConfigFiles, ProjectConfig } from "../../core/config/read-config.ts";
import { projectRisks, type Risk } from "../../core/config/risks.ts";
import type { Project } from "../../core/dispatch.ts";
import { databaseFaults, databaseOf, openDb } from "../../db/open.ts";
import { readText } from "./config-files.ts";
import { databaseReach } from "./database-reach.ts";
import { parseEnv, type Settings } from "./env.ts";
import { createLog, type Logger } from "./log.ts";
import { mountJobsBoard } from "../http/jobs-board.ts";
import { type Hooks, openHooks } from "./open-hooks.ts";
import { type Jobs, openJobs } from "./open-jobs.ts";
import { appOver, assembleProject, databaseOptions, lookAt } from "./open-project.ts";
import { readProjects } from "./read-projects.ts";
import { createOutbound, type OutboundOptions } from "../outbound/outbound-client.ts";
import { openCallers } from "../callers/open-callers.ts";
import { openStores } from "../stores/open-stores.ts";
import type { Stores } from "../stores/stores.ts";

export interface ServiceOptions {
  readonly files: ConfigFiles;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log?: Logger;
  /** Loads the files under `components/`; absent: a configuration with handlers is refused. */
  readonly importComponent?: ImportComponent;
  /** Absent: as the projects' `auth` says. */
  readonly callers?: Callers;
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
  /** Hooks that nobody waits for may go on until this moment (of `performance.now()`), absent: no longer; the next process has the rest. */
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
  callers,
}: ServiceOptions): Promise<Service> {
  const settings = parseEnv(env);
  const log = givenLog ?? createLog(settings.logLevel);
  const { projects: configs, faults } = readProjects({ files, env }, databaseFaults);
  const stores = await openStores(settings.redisUrl);
  const cache = createCache({ store: stores.cache, digest, log });
  const raise = (names: readonly string[]) => stores.cache.raise(names);
  // A configuration with faults is not served, so no job of an earlier process goes on either.
  const served = faults.length > 0 ? [] : configs;
  const opening = openJobs({ projects: served, settings, files, env, log, cache, raise });
  const jobs = await opening.catch((error: unknown) => {
    cache.close();
    stores.close();
    throw error;
  });
  const hooks = await openHooks({ projects: served, settings, log }).catch(
    async (error: unknown) => {
      await jobs.close();
      cache.close();
      stores.close();
      throw error;
    },
  );
  let app: Hono | null = null;
  const own: OutboundOptions["own"] = (request) => app!.fetch(request);
  const parts = { cache, locks: stores.locks, jobs, hooks, importComponent, own, callers, log };
  const opened = await Promise.all(configs.map((config) => openProject(config, parts)));
  const close = async (hooksUntilMs = 0) => {
    for (const { stop } of opened) stop.abort();
    await hooks.stop(hooksUntilMs);
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

  const { bodyLimitBytes } = settings;
  const projects = opened.map(({ project }) => project);
  app = appOver(projects, { configs, bodyLimitBytes, pingRedis: stores.ping, log });
  hooks.start();
  if (jobs.board) mountJobsBoard(app, { board: jobs.board, now, newId, log });
  return { app, settings, log, projects: configs, ready, stopJobs: jobs.stopRunning, close };
}

/** All faults of the files, and of what they say about databases; `unreachable` names projects whose database did not answer. */
export async function checkConfig({ files, env, importComponent }: ServiceOptions): Promise<{
  faults: readonly Fault[];
  unreachable: readonly string[];
  /** What the operator should know, and what stops nothing. */
  notices: readonly string[];
  risks: readonly Risk[];
  endpoints: number;
}> {
  const log = createLog("silent");
  const { projects: configs, faults } = readProjects({ files, env }, databaseFaults);
  const stores = await openStores(null);
  const cache = createCache({ store: stores.cache, digest, log });
  const settings = parseEnv(env);
  const raise = async () => undefined;
  // Without projects nothing is opened.
  const jobs = await openJobs({ projects: [], settings, files, env, log, cache, raise });
  const hooks = await openHooks({ projects: [], settings, log });
  const own = () => new Response(null, { status: 503 });
  const locks = stores.locks;
  const parts = { cache, locks, jobs, hooks, importComponent, own, callers: undefined, log };
  const opened = await Promise.all(configs.map((config) => openProject(config, parts)));
  const notices: string[] = [];
  const tell = (notice: string) => void notices.push(notice);
  const looks = await Promise.all(opened.map((one) => compileOnce(one, log, tell)));
  await Promise.all(opened.map(({ project }) => project.db.close()));
  return {
    faults: [...faults, ...looks.flatMap((look) => (look === "unreachable" ? [] : look))],
    notices,
    risks: configs.flatMap((config) => projectRisks(config, databaseReach(config))),
    unreachable: configs.filter((_, at) => looks[at] === "unreachable").map(({ name }) => name),
    endpoints: opened.reduce((sum, { project }) => sum + (project.routes?.endpoints.size ?? 0), 0),
  };
}

interface OpenProject {
  readonly config: ProjectConfig;
  readonly project: Project;
  readonly importComponent: ImportComponent | undefined;
  readonly stop: AbortController;
}

interface ProjectParts {
  readonly cache: Cache;
  readonly locks: Stores["locks"];
  readonly jobs: Jobs;
  readonly hooks: Hooks;
  readonly importComponent: ImportComponent | undefined;
  readonly own: OutboundOptions["own"];
  readonly callers: Callers | undefined;
  readonly log: Logger;
}

const digest = (text: string): string => hash("sha256", text);
const now = (): string => new Date().toISOString();
const newId = (): string => crypto.randomUUID();

async function openProject(
  config: ProjectConfig,
  { cache, locks: openStore, jobs, hooks, importComponent, own, callers, log }: ProjectParts,
): Promise<OpenProject> {
  const { url } = config.database;
  const db = await openDb(url, databaseOptions(config, readText));
  const outbound = createOutbound({ allowedHosts: config.hooks.allowedHosts, own });
  const project = assembleProject(config, {
    db,
    database: databaseOf(url),
    cache,
    lockStore: openStore(config.name),
    outbound,
    background: hooks.forProject(config.name, outbound),
    jobs: jobs.forProject(config),
    callers: callers ?? openCallers(config.auth, { digest, outbound, log }),
    digest,
  });
  return { config, project, importComponent, stop: new AbortController() };
}

/** Compiles the project if its database answers, and puts its routes in place if there is no fault. */
async function compileOnce(
  { config, project, importComponent }: OpenProject,
  log: Logger,
  tell = (notice: string): void => log.warn({ project: config.name }, notice),
): Promise<readonly Fault[] | "unreachable"> {
  const { access } = project.callers;
  const look = await lookAt(config, { catalog: project.db.catalog, access, importComponent });
  if ("faults" in look) return look.faults;
  if ("unreachable" in look) {
    log.warn(
      { project: config.name, err: look.unreachable },
      "The database is not reachable; trying again",
    );
    return "unreachable";
  }
  for (const notice of look.notices) tell(notice);
  project.routes = look.routes;
  return [];
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
