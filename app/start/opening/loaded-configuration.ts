/** One loaded configuration: its projects over their databases, and the app that answers for them. */
import { openToAll } from "../../../core/callers/callers.ts";
import type { ProjectConfig } from "../../../core/config/reading/read-config.ts";
import type { Project } from "../../../core/dispatch.ts";
import { type CheckHost, createHostCheck, isLoopback } from "../../http/guard.ts";
import type { ConfigState } from "../../http/health.ts";
import type { App } from "../../http/http.ts";
import { countInto } from "../../metrics/metrics-watcher.ts";
import { mountJobsBoard } from "../../http/jobs-board.ts";
import { ConfigError } from "../settings/config-error.ts";
import type { Settings } from "../settings/env.ts";
import { observeProjects } from "../observing/observe-projects.ts";
import type { JobsConfiguration } from "./open-jobs.ts";
import { appOver } from "./app-over.ts";
import { compression } from "./disk-files.ts";
import type { ProcessParts } from "./process-parts.ts";
import { logLeftOut, type ReadProjects } from "../settings/read-projects.ts";
import {
  compileLater,
  compileOnce,
  type CompileResult,
  type LoadedParts,
  openServed,
  type ServedProject,
} from "./serve-project.ts";
import { risksOf, toLog } from "./telling.ts";

export interface LoadOptions extends Omit<LoadedParts, "before"> {
  /** The files as they were read. */
  readonly read: ReadProjects;
  readonly source: Omit<JobsConfiguration, "configs">;
  readonly configState: () => ConfigState;
  /** The text of `/metrics`. */
  readonly metricsText: () => Promise<string>;
  readonly bodyTimeoutMs: number;
  /** The configuration that is served until now; null at the start. */
  readonly before: LoadedConfiguration | null;
}

/** A configuration that can be served. */
export interface LoadedConfiguration {
  readonly app: App;
  readonly configs: readonly ProjectConfig[];
  readonly opened: readonly ServedProject[];
  readonly projects: readonly Project[];
  /** Jobs, hook calls and databases use this configuration from now on. */
  use(): void;
  /** Resolves when every project's database was reached and its configuration compiled; rejects with ConfigError. */
  readonly ready: Promise<void>;
  /**
   * Ends the attempts to reach databases, and streams. Deliveries of webhooks that are under way may continue until this
   * moment (of `performance.now()`).
   */
  stop(deliveriesUntilMs: number): void;
  /** Closes the databases that no other configuration uses, once deliveries have ended. */
  close(): Promise<void>;
}

/** Rejects with ConfigError for every fault that prevents serving it; nothing more is open then than before. */
export async function loadConfiguration(
  options: LoadOptions,
  ofProcess: ProcessParts,
): Promise<LoadedConfiguration> {
  const { projects: configs } = options.read;
  const observation = observeProjects(ofProcess.observation, configs, ofProcess.runtime.log);
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

/** Separate from the rest of loading, so that a configuration does not keep the previous one in memory. */
function lifeOf(
  opened: readonly ServedProject[],
  jobs: JobsConfiguration,
  parts: ProcessParts,
): Pick<LoadedConfiguration, "opened" | "projects" | "use" | "stop" | "close"> {
  const stopping: Promise<void>[] = [];
  return {
    opened,
    projects: opened.map(({ project }) => project),
    use() {
      for (const { database, project } of opened) {
        database.listen(project.schema.doubt, parts.observation.db(project.name));
        project.webhooks.start();
        project.files.start();
      }
      parts.jobs.use(jobs);
      parts.hooks.use(opened);
    },
    stop(deliveriesUntilMs) {
      for (const { stop, project } of opened) {
        stop.abort();
        project.feed.close();
        project.files.stop();
        stopping.push(project.webhooks.stop(deliveriesUntilMs));
      }
    },
    async close() {
      await Promise.all(stopping);
      await closeAll(opened);
    },
  };
}

async function closeAll(opened: readonly ServedProject[]): Promise<void> {
  await Promise.all(opened.map(({ database }) => database.release()));
}

function logAllLeftOut(
  opened: readonly ServedProject[],
  looks: readonly CompileResult[],
  { runtime: { log } }: ProcessParts,
): void {
  for (const [at, { config }] of opened.entries())
    logLeftOut(config, [...config.leftOut.values(), looks[at]!.faults].flat(), log);
}

/** Throws a ConfigError for faults that prevent the configuration from being served. */
function throwFaults(
  opened: readonly ServedProject[],
  looks: readonly CompileResult[],
  { read: { faults }, before }: LoadOptions,
): void {
  const judged = opened.map((one, at) => judge(one, looks[at]!, before));
  const found = [...faults, ...judged.flatMap(({ fatal }) => fatal)];
  const unusable = judged.flatMap(({ sentences }) => sentences);
  if (found.length + unusable.length > 0) throw new ConfigError(found, unusable);
}

/** Opens all projects, or none. */
async function openAll(
  {
    read: { projects: configs },
    importComponent,
    own,
    callers,
    deliveryTimes,
    before,
  }: LoadOptions,
  parts: ProcessParts,
): Promise<readonly ServedProject[]> {
  const opening = configs.map((config) => {
    const known = before?.opened.find(({ project }) => project.name === config.name);
    return openServed(
      config,
      { importComponent, own, callers, deliveryTimes, before: known },
      parts,
    );
  });
  const results = await Promise.allSettled(opening);
  const failed = results.find((result) => result.status === "rejected");
  const opened = results.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  if (!failed) return opened;
  await closeAll(opened);
  throw failed.reason;
}

function compileAll(
  opened: readonly ServedProject[],
  { read: { projects: configs } }: LoadOptions,
  { settings, runtime: { log } }: ProcessParts,
): Promise<readonly CompileResult[]> {
  for (const config of configs)
    for (const risk of risksOf(config, settings)) toLog(config, log).risk(risk);
  return Promise.all(opened.map((one) => compileOnce(one, toLog(one.config, log))));
}

/** The faults of a project that prevent the configuration from being served. */
function judge(
  { config, project }: ServedProject,
  { faults, trouble }: CompileResult,
  before: LoadedConfiguration | null,
): { readonly fatal: CompileResult["faults"]; readonly sentences: readonly string[] } {
  if (config.onFault === "skip") return { fatal: [], sentences: [] };
  // A database that can answer later is waited for, unless its project is served now by the earlier configuration.
  const isServed = before?.projects.some(
    ({ name, routes }) => name === project.name && routes !== null,
  );
  const isFatal = trouble !== null && (trouble.isLasting || isServed === true);
  return { fatal: faults, sentences: isFatal ? [trouble.sentence] : [] };
}

function reachAll(
  opened: readonly ServedProject[],
  looks: readonly CompileResult[],
  { before }: LoadOptions,
  { runtime: { log } }: ProcessParts,
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
  opened: readonly ServedProject[],
  { read: { projects: configs }, configState, metricsText, bodyTimeoutMs }: LoadOptions,
  parts: ProcessParts,
): App {
  const { runtime, settings, counters, hookDepths, pingRedis, observation, metrics } = parts;
  const projects = opened.map(({ project }) => project);
  const board = parts.board();
  return appOver(projects, {
    runtime,
    configs,
    settings,
    bodyTimeoutMs,
    checkHost: hostCheckOf(settings, { projects, configs }),
    counters,
    hookDepths,
    pingRedis,
    configState,
    mountBoard: board && ((pages, deps) => mountJobsBoard(pages, board, deps)),
    docs: settings.docs ? openDocs : "off",
    console: settings.console ? openConsole : "off",
    compression,
    observe: observation.request,
    onAnswered: countInto(metrics.requests, metrics.requestDuration),
    onStep: countInto(metrics.batchSteps, metrics.batchStepDuration),
    onToolCall: countInto(metrics.toolCalls, metrics.toolCallDuration),
    openProtocol: () => import("../../mcp/protocol.ts"),
    metricsText,
    onRateLimited: (project, limit) => metrics.rateLimitRefusals.add([project, limit]),
  });
}

/**
 * Checks host names against DNS rebinding (a web page that reaches the service under its own name): on a loopback
 * address with a project that needs no credentials, or if ALLOWED_HOSTS is set.
 */
function hostCheckOf(
  { host, allowedHosts }: Settings,
  { projects, configs }: { projects: readonly Project[]; configs: readonly ProjectConfig[] },
): CheckHost | null {
  const isOpen =
    projects.some(({ callers }) => callers === openToAll) ||
    configs.some(({ auth }) => auth?.anonymous !== undefined);
  const isExposed = isLoopback(host) && isOpen;
  return isExposed || allowedHosts.length > 0 ? createHostCheck(allowedHosts) : null;
}

/** Each is loaded when its page is first asked for. */
const openDocs = async () => (await import("./static-files.ts")).openDocsFiles();
const openConsole = async () => (await import("./static-files.ts")).openConsoleFiles();
