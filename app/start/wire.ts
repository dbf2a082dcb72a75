/**
 * Creates a running service from configuration files and environment, for runtimes with sockets and files. The only
 * place that knows both the HTTP edge and the databases.
 */
import { hash } from "node:crypto";
import type { Hono } from "hono";
import { type Cache, createCache } from "../../core/cache/cache.ts";
import { createReach } from "../../core/cache/reach.ts";
import { type Callers, openToAll } from "../../core/callers/callers.ts";
import type { ImportComponent } from "../../core/config/components-plan.ts";
import { formatFaults, type Fault } from "../../core/config/faults.ts";
import type { ConfigFiles, ProjectConfig } from "../../core/config/read-config.ts";
import {
  databaseRisks,
  type Exposure,
  type Risk,
  riskText,
  settingsRisks,
} from "../../core/config/risks.ts";
import type { Project } from "../../core/dispatch.ts";
import type { Counters } from "../../core/plans/ports.ts";
import { databaseFaults, databaseOf, openDb } from "../../db/open.ts";
import { readText } from "./config-files.ts";
import { databaseReach } from "./database-reach.ts";
import { parseEnv, type Settings } from "./env.ts";
import { createLog, type Logger } from "./log.ts";
import { ownCall } from "../http/client-address.ts";
import { type CheckHost, createHostCheck, isLoopback } from "../http/guard.ts";
import { mountJobsBoard } from "../http/jobs-board.ts";
import { createRefuse, type Refuse } from "../http/refuse.ts";
import { limits } from "../../core/values/limits.ts";
import type { Timeouts } from "./listening.ts";
import type { Observation } from "../observe/observation.ts";
import type { Watcher } from "../observe/watcher.ts";
import { type Hooks, openHooks } from "./open-hooks.ts";
import { type Jobs, openJobs } from "./open-jobs.ts";
import { openObservation } from "./open-observation.ts";
import { appOver, assembleProject, databaseOptions, lookAt } from "./open-project.ts";
import { readProjects } from "./read-projects.ts";
import { createOutbound, type OutboundOptions } from "../outbound/outbound-client.ts";
import { openCallers } from "../callers/open-callers.ts";
import { countersReach, withFallback } from "../stores/fallback-counters.ts";
import { createMemoryCounters } from "../stores/memory-counters.ts";
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
  /** Absent: those of `limits`. */
  readonly timeouts?: Timeouts;
  /** Beside those that the settings switch on. */
  readonly watchers?: readonly Watcher[];
}

export interface Service {
  readonly app: Hono;
  readonly settings: Settings;
  readonly timeouts: Timeouts;
  /** Answers requests that never reach the app. */
  readonly refuse: Refuse;
  readonly log: Logger;
  readonly projects: readonly ProjectConfig[];
  /** Whether the project of this name is served: its database was reached. */
  isUp(name: string): boolean;
  /** Resolves when every project's database was reached and its configuration compiled; rejects with ConfigError. */
  readonly ready: Promise<void>;
  /** Jobs that run in this process stop at a safe point; requests are still answered. */
  stopJobs(): Promise<void>;
  /**
   * Non-blocking hook calls may continue until `hooksUntilMs` (clock of `performance.now()`; absent: they stop now);
   * the next process makes the remaining ones.
   */
  close(hooksUntilMs?: number): Promise<void>;
}

/** All faults of the configuration in one message; `sentences` are about databases that cannot be used. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[], sentences: readonly string[] = []) {
    super([...(faults.length > 0 ? [formatFaults(faults)] : []), ...sentences].join("\n"));
    this.faults = faults;
  }
}

/** Delays between two attempts to reach a database: the first, and the longest after doubling. */
const retryDelayMs = { first: 250, longest: 5_000 };

/**
 * Opens the service. Rejects with ConfigError for every fault that can be found now. A project whose database is
 * unreachable is retried until it is reached, and answers 503 meanwhile.
 */
export async function openService({
  files,
  env,
  log: givenLog,
  importComponent,
  callers,
  timeouts = limits,
  watchers,
}: ServiceOptions): Promise<Service> {
  const settings = parseEnv(env);
  const log = givenLog ?? createLog(settings.logLevel);
  const { projects: configs, faults } = readProjects({ files, env }, databaseFaults);
  const observation = await openObservation({ watchers });
  const stores = await openStores(settings.redisUrl);
  const cache = createCache({ store: stores.cache, digest, log });
  const raise = (names: readonly string[]) => stores.cache.raise(names);
  // A configuration with faults is not served, so no job of an earlier process continues either.
  const served = faults.length > 0 ? [] : configs;
  const work = { projects: served, settings, log };
  const opening = openJobs({ ...work, files, env, cache, raise, observation });
  const jobs = await opening.catch((error: unknown) => {
    cache.close();
    stores.close();
    throw error;
  });
  const hooks = await openHooks(work).catch(async (error: unknown) => {
    await jobs.close();
    cache.close();
    stores.close();
    throw error;
  });
  let app: Hono | null = null;
  const own: OutboundOptions["own"] = (request) => app!.fetch(request, ownCall);
  const shared = { cache, locks: stores.locks, jobs, hooks, own, callers, log };
  const parts = { ...shared, observation, importComponent };
  const opened = await Promise.all(configs.map((config) => openProject(config, parts)));
  const close = async (hooksUntilMs = 0) => {
    for (const { stop } of opened) stop.abort();
    await hooks.stop(hooksUntilMs);
    await jobs.close();
    await Promise.all(opened.map(({ project }) => project.db.close()));
    cache.close();
    stores.close();
    await observation.close(performance.now() + limits.farewellMs);
  };

  for (const config of configs)
    for (const risk of risksOf(config, settings)) toLog(config, log).risk(risk);
  const looks = await Promise.all(opened.map((one) => compileOnce(one, toLog(one.config, log))));
  const found = [...faults, ...looks.flatMap((look) => look.faults)];
  const unusable = looks.flatMap(({ trouble }) => (trouble?.isLasting ? trouble.sentence : []));
  if (found.length + unusable.length > 0) {
    await close();
    throw new ConfigError(found, unusable);
  }
  const late = opened.flatMap((one, at) => {
    const { trouble } = looks[at]!;
    return trouble ? compileLater(one, trouble, log) : [];
  });
  const ready = Promise.all(late).then(() => undefined);
  // A rejection must not crash the process when a caller does not await it; the entries await it.
  ready.catch(() => undefined);

  const { bodyTimeoutMs } = timeouts;
  const projects = opened.map(({ project }) => project);
  const checkHost = hostCheckOf(settings, projects);
  const counters = countersOver(stores, log);
  const parted = { configs, settings, bodyTimeoutMs, checkHost, counters, digest, log };
  const { request: observe } = observation;
  app = appOver(projects, { ...parted, pingRedis: stores.ping, observe });
  hooks.start();
  const deps = { now, newId, log, observe };
  if (jobs.board) mountJobsBoard(app, { board: jobs.board, checkHost, ...deps });
  const refuse = createRefuse(deps);
  const isUp = (name: string) => projects.some((one) => one.name === name && one.routes !== null);
  const { stopRunning: stopJobs } = jobs;
  return { app, settings, timeouts, refuse, log, projects: configs, isUp, ready, stopJobs, close };
}

/** Those of Redis count in this process while it is away; without Redis they do anyway. */
function countersOver({ counters, ping }: Stores, log: Logger): Counters {
  if (ping === null) return counters;
  const reach = createReach({ log, ...countersReach });
  return withFallback(counters, { own: createMemoryCounters(), reach });
}

/** Names are looked at where a page could reach the service by one of its own: on this machine, without credentials; or on demand. */
function hostCheckOf(
  { host, allowedHosts }: Settings,
  projects: readonly Project[],
): CheckHost | null {
  const isOpen = projects.some(({ callers }) => callers === openToAll);
  const isExposed = isLoopback(host) && isOpen;
  return isExposed || allowedHosts.length > 0 ? createHostCheck(allowedHosts) : null;
}

const exposureOf = ({ host }: Settings): Exposure => ({
  openBy: isLoopback(host) ? null : `HOST=${host}`,
});

/** What can be told without a look at the database. */
const risksOf = (config: ProjectConfig, settings: Settings): Risk[] => [
  ...settingsRisks(config, exposureOf(settings)),
  ...databaseRisks(config, databaseReach(config)),
];

/** All faults of the files, and of what they say about databases; `unreachable`: a sentence for each database that cannot be used. */
export async function checkConfig({ files, env, importComponent }: ServiceOptions): Promise<{
  faults: readonly Fault[];
  unreachable: readonly string[];
  /** Notes for the operator that do not prevent the start. */
  notices: readonly string[];
  /** What is dangerous, and stops nothing. */
  risks: readonly Risk[];
  endpoints: number;
}> {
  const log = createLog("silent");
  const { projects: configs, faults } = readProjects({ files, env }, databaseFaults);
  const stores = await openStores(null);
  const cache = createCache({ store: stores.cache, digest, log });
  const settings = parseEnv(env);
  const raise = async () => undefined;
  const observation = await openObservation({});
  // Without projects nothing is opened.
  const nothing = { projects: [], settings, files, env, log, cache, raise, observation };
  const jobs = await openJobs(nothing);
  const hooks = await openHooks({ projects: [], settings, log });
  const locks = stores.locks;
  const own = () => new Response(null, { status: 503 });
  const shared = { cache, locks, jobs, hooks, own, callers: undefined, log };
  const parts = { ...shared, observation, importComponent };
  const opening = configs.map((config) => openProject(config, { ...parts, isOnlyLookedAt: true }));
  const opened = await Promise.all(opening);
  const notices: string[] = [];
  const risks = configs.flatMap((config) => risksOf(config, settings));
  const telling: Telling = {
    notice: (notice) => void notices.push(notice),
    risk: (risk) => void risks.push(risk),
    remark: (remark) => void notices.push(remark),
  };
  const looks = await Promise.all(opened.map((one) => compileOnce(one, telling)));
  await Promise.all(opened.map(({ project }) => project.db.close()));
  return {
    faults: [...faults, ...looks.flatMap((look) => look.faults)],
    notices,
    risks,
    unreachable: looks.flatMap(({ trouble }) => trouble?.sentence ?? []),
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
  readonly observation: Observation;
  /** See `OpenOptions`. */
  readonly isOnlyLookedAt?: boolean;
}

const digest = (text: string): string => hash("sha256", text);
const now = (): string => new Date().toISOString();
const newId = (): string => crypto.randomUUID();

async function openProject(
  config: ProjectConfig,
  { cache, locks: openStore, jobs, hooks, own, callers, observation, ...more }: ProjectParts,
): Promise<OpenProject> {
  const { name, database } = config;
  const { url } = database;
  const importComponent = more.importComponent && observation.components(more.importComponent);
  const observer = observation.db(name);
  const options = { ...databaseOptions(config, readText), ...more, ...(observer && { observer }) };
  const db = await openDb(url, options).catch((error: Error) => {
    throw new Error(`${titleOf(config)}: ${error.message}`, { cause: error });
  });
  const caller = createOutbound({ allowedHosts: config.hooks.allowedHosts, own });
  const outbound = observation.outbound(caller);
  const project = assembleProject(config, {
    db,
    database: databaseOf(url),
    cache,
    observeCache: observation.cache(name),
    lockStore: openStore(name),
    outbound,
    background: observation.background(hooks.forProject(name, outbound)),
    jobs: jobs.forProject(config),
    callers: callers ?? openCallers(config.auth, { digest, outbound, log: more.log }),
    digest,
  });
  return { config, project, importComponent, stop: new AbortController() };
}

/** Where goes what the operator should know of a configuration. */
interface Telling {
  notice(notice: string): void;
  risk(risk: Risk): void;
  /** For somebody who asks. */
  remark(remark: string): void;
}

const toLog = ({ name: project }: ProjectConfig, log: Logger): Telling => ({
  notice: (notice) => log.warn({ project }, notice),
  risk: (risk) => log.warn({ project }, riskText(risk)),
  remark: () => undefined,
});

/** Why the project is not served yet. */
interface Trouble {
  readonly sentence: string;
  readonly isLasting: boolean;
  readonly cause: unknown;
}

/** The result of an attempt to reach the project's database. */
interface Outcome {
  readonly faults: readonly Fault[];
  /** Null: the database was reached. */
  readonly trouble: Trouble | null;
}

/** `shop (shop/project.json)`. */
const titleOf = ({ name, document }: ProjectConfig): string => `${name} (${document.file})`;

/** Compiles the project if its database answers, and puts its routes in place if there is no fault. */
async function compileOnce(
  { config, project, importComponent }: OpenProject,
  tell: Telling,
): Promise<Outcome> {
  const { access } = project.callers;
  const look = await lookAt(config, { catalog: project.db.catalog, access, importComponent });
  if ("faults" in look) return { faults: look.faults, trouble: null };
  if ("unreachable" in look) {
    const { reason, remedy, isLasting } = project.db.faultOf(look.unreachable);
    const sentence = `${titleOf(config)}: ${reason}; ${remedy}`;
    return { faults: [], trouble: { sentence, isLasting, cause: look.unreachable } };
  }
  for (const notice of look.notices) tell.notice(notice);
  for (const risk of look.risks) tell.risk(risk);
  for (const remark of look.remarks) tell.remark(remark);
  project.routes = look.routes;
  return { faults: [], trouble: null };
}

/** Retries until the database is reached. Logs the reason once, and again when it changes. */
async function compileLater(one: OpenProject, first: Trouble, log: Logger): Promise<void> {
  const { name: project } = one.config;
  let trouble = first;
  log.warn({ project }, `${trouble.sentence}; retrying until it answers`);
  for (let delayMs = retryDelayMs.first; ; delayMs = Math.min(delayMs * 2, retryDelayMs.longest)) {
    await pause(delayMs, one.stop.signal);
    if (one.stop.signal.aborted) return;
    const look = await compileOnce(one, toLog(one.config, log));
    if (look.faults.length > 0) throw new ConfigError(look.faults);
    if (look.trouble === null) break;
    log.debug({ project, err: look.trouble.cause }, "The database does not answer yet");
    if (look.trouble.sentence !== trouble.sentence)
      log.warn({ project }, `${look.trouble.sentence}; retrying until it answers`);
    trouble = look.trouble;
  }
  log.info({ project }, "The database is reachable; the project is served");
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
