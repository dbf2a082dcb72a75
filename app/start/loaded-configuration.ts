/** One loaded configuration: its projects over their databases, and the app that answers for them. */
import { systemClock } from "../../core/values/clock.ts";
import { type Callers, openToAll } from "../../core/callers/callers.ts";
import type { ImportComponent } from "../../core/config/components-plan.ts";
import type { ProjectConfig } from "../../core/config/read-config.ts";
import type { Project } from "../../core/dispatch.ts";
import { type CheckHost, createHostCheck, isLoopback } from "../http/guard.ts";
import type { ConfigState } from "../http/health.ts";
import type { App } from "../http/http.ts";
import { countRequests } from "../metrics/metrics-watcher.ts";
import { mountJobsBoard } from "../http/jobs-board.ts";
import type { OutboundOptions } from "../outbound/outbound-client.ts";
import { ConfigError } from "./config-error.ts";
import type { Settings } from "./env.ts";
import { observeProjects } from "./observe-projects.ts";
import { logLeftOut } from "./left-out.ts";
import type { JobsConfiguration } from "./open-jobs.ts";
import { appOver } from "./open-project.ts";
import { type ProcessParts, sha256 } from "./process-parts.ts";
import type { ReadProjects } from "./read-projects.ts";
import {
  type CompileResult,
  compileLater,
  compileOnce,
  type OpenProject,
  openProject,
} from "./serve-project.ts";
import { risksOf, toLog } from "./telling.ts";

/** What a configuration is loaded from. */
export interface LoadOptions {
  /** What was read. */
  readonly read: ReadProjects;
  readonly source: Omit<JobsConfiguration, "configs">;
  readonly importComponent: ImportComponent | undefined;
  /** Absent: as the projects' `auth` says. */
  readonly callers: Callers | undefined;
  /** Answers requests of the service's own hooks. */
  readonly own: OutboundOptions["own"];
  readonly configState: () => ConfigState;
  readonly bodyTimeoutMs: number;
  /** The configuration that is served until now; null at the start. */
  readonly before: LoadedConfiguration | null;
}

/** A configuration that can be served. */
export interface LoadedConfiguration {
  readonly app: App;
  readonly configs: readonly ProjectConfig[];
  readonly opened: readonly OpenProject[];
  readonly projects: readonly Project[];
  /** Jobs, hook calls and databases go by this configuration from now on. */
  use(): void;
  /** Resolves when every project's database was reached and its configuration compiled; rejects with ConfigError. */
  readonly ready: Promise<void>;
  /** Ends the attempts to reach databases. */
  stop(): void;
  /** Closes the databases that no other configuration uses. */
  close(): Promise<void>;
}

/** Rejects with ConfigError for every fault that prevents serving it; nothing more is open then than before. */
export async function loadConfiguration(
  options: LoadOptions,
  ofProcess: ProcessParts,
): Promise<LoadedConfiguration> {
  const { projects: configs } = options.read;
  const observation = observeProjects(ofProcess.observation, configs, ofProcess.log);
  const parts: ProcessParts = { ...ofProcess, observation };
  const opened = await openAll(options, parts);
  try {
    const looks = await compileAll(opened, options, parts);
    throwFaults(opened, looks, options);
    const jobs = { configs, ...options.source };
    await parts.jobs.prepare(jobs);
    await parts.hooks.prepare(configs);
    logAllLeftOut(opened, looks, parts);
    const app = appFor(opened, options, parts);
    const ready = reachAll(opened, looks, options, parts);
    return { app, configs, ready, ...lifeOf(opened, jobs, parts) };
  } catch (error) {
    await closeAll(opened);
    throw error;
  }
}

/** Apart from the rest of loading, so that a configuration does not keep the one before it in memory. */
function lifeOf(
  opened: readonly OpenProject[],
  jobs: JobsConfiguration,
  parts: ProcessParts,
): Pick<LoadedConfiguration, "opened" | "projects" | "use" | "stop" | "close"> {
  return {
    opened,
    projects: opened.map(({ project }) => project),
    use() {
      for (const { database, project } of opened)
        database.listen(project.schema.doubt, parts.observation.db(project.name));
      parts.jobs.use(jobs);
      parts.hooks.use(opened);
    },
    stop: () => opened.forEach((one) => one.stop.abort()),
    close: () => closeAll(opened),
  };
}

async function closeAll(opened: readonly OpenProject[]): Promise<void> {
  await Promise.all(opened.map(({ database }) => database.release()));
}

function logAllLeftOut(
  opened: readonly OpenProject[],
  looks: readonly CompileResult[],
  { log }: ProcessParts,
): void {
  for (const [at, { config }] of opened.entries())
    logLeftOut(config, [...config.leftOut.values(), looks[at]!.faults].flat(), log);
}

/** Throws a ConfigError for what prevents the configuration from being served. */
function throwFaults(
  opened: readonly OpenProject[],
  looks: readonly CompileResult[],
  { read: { faults }, before }: LoadOptions,
): void {
  const judged = opened.map((one, at) => judge(one, looks[at]!, before));
  const found = [...faults, ...judged.flatMap(({ fatal }) => fatal)];
  const unusable = judged.flatMap(({ sentences }) => sentences);
  if (found.length + unusable.length > 0) throw new ConfigError(found, unusable);
}

/** All projects, or none. */
async function openAll(
  { read: { projects: configs }, importComponent, own, callers, before }: LoadOptions,
  parts: ProcessParts,
): Promise<readonly OpenProject[]> {
  const opening = configs.map((config) => {
    const known = before?.opened.find(({ project }) => project.name === config.name);
    return openProject(config, { importComponent, own, callers, before: known }, parts);
  });
  const results = await Promise.allSettled(opening);
  const failed = results.find((result) => result.status === "rejected");
  const opened = results.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  if (!failed) return opened;
  await closeAll(opened);
  throw failed.reason;
}

function compileAll(
  opened: readonly OpenProject[],
  { read: { projects: configs } }: LoadOptions,
  { settings, log }: ProcessParts,
): Promise<readonly CompileResult[]> {
  for (const config of configs)
    for (const risk of risksOf(config, settings)) toLog(config, log).risk(risk);
  return Promise.all(opened.map((one) => compileOnce(one, toLog(one.config, log))));
}

/** What of a project prevents the configuration from being served. */
function judge(
  { config, project }: OpenProject,
  { faults, trouble }: CompileResult,
  before: LoadedConfiguration | null,
): { readonly fatal: CompileResult["faults"]; readonly sentences: readonly string[] } {
  if (config.onFault === "skip") return { fatal: [], sentences: [] };
  // A database that may answer later is waited for, but not in place of a project that is served now.
  const isServed = before?.projects.some(
    ({ name, routes }) => name === project.name && routes !== null,
  );
  const isFatal = trouble !== null && (trouble.isLasting || isServed === true);
  return { fatal: faults, sentences: isFatal ? [trouble.sentence] : [] };
}

function reachAll(
  opened: readonly OpenProject[],
  looks: readonly CompileResult[],
  { before }: LoadOptions,
  { log }: ProcessParts,
): Promise<void> {
  const late = opened.flatMap((one, at) => {
    const { trouble: first } = looks[at]!;
    const endsWithFaults = before === null && one.config.onFault === "stop";
    return first ? compileLater(one, { first, log, endsWithFaults }) : [];
  });
  const ready = Promise.all(late).then(() => undefined);
  // A rejection must not crash the process when a caller does not await it; the entries await it.
  ready.catch(() => undefined);
  return ready;
}

function appFor(
  opened: readonly OpenProject[],
  { read: { projects: configs }, configState, bodyTimeoutMs }: LoadOptions,
  parts: ProcessParts,
): App {
  const { settings, counters, pingRedis, observation, basePath, log } = parts;
  const projects = opened.map(({ project }) => project);
  const checkHost = hostCheckOf(settings, projects);
  const edge = { configs, settings, bodyTimeoutMs, checkHost, counters, pingRedis, configState };
  const { request: observe } = observation;
  const { metrics } = parts;
  const onAnswered = countRequests(metrics);
  const board = parts.board();
  const jobsBoard = board !== null;
  const docs = settings.docs ? openDocs : "off";
  const console = settings.console ? openConsole : "off";
  const app = appOver(projects, {
    ...edge,
    jobsBoard,
    docs,
    basePath,
    console,
    digest: sha256,
    log,
    observe,
    onAnswered,
    metricsText: metrics.text,
    onRateLimited: (project, limit) => metrics.rateLimitRefusals.add([project, limit]),
  });
  if (board)
    mountJobsBoard(app.pages, {
      board,
      basePath,
      checkHost,
      now: systemClock,
      newId,
      log,
      observe,
      onAnswered,
    });
  return app;
}

/** Host names are checked where a web page could reach the service by a name of its own: on this machine, without credentials; or on demand. */
function hostCheckOf(
  { host, allowedHosts }: Settings,
  projects: readonly Project[],
): CheckHost | null {
  const isOpen = projects.some(({ callers }) => callers === openToAll);
  const isExposed = isLoopback(host) && isOpen;
  return isExposed || allowedHosts.length > 0 ? createHostCheck(allowedHosts) : null;
}

/** Each is loaded when its page is first asked for. */
const openDocs = async () => (await import("./docs-files.ts")).openDocsFiles();
const openConsole = async () => (await import("./console-files.ts")).openConsoleFiles();

const newId = (): string => crypto.randomUUID();
