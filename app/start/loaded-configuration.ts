/** One loaded configuration: its projects over their databases, and the app that answers for them. */
import type { Hono } from "hono";
import { type Callers, openToAll } from "../../core/callers/callers.ts";
import type { ImportComponent } from "../../core/config/components-plan.ts";
import type { Fault } from "../../core/config/faults.ts";
import type { ProjectConfig } from "../../core/config/read-config.ts";
import type { Project } from "../../core/dispatch.ts";
import { type CheckHost, createHostCheck, isLoopback } from "../http/guard.ts";
import { countRequests } from "../metrics/metrics-watcher.ts";
import { mountJobsBoard } from "../http/jobs-board.ts";
import type { OutboundOptions } from "../outbound/outbound-client.ts";
import { ConfigError } from "./config-error.ts";
import type { Settings } from "./env.ts";
import { observeProjects } from "./observe-projects.ts";
import { appOver } from "./open-project.ts";
import type { ProcessParts } from "./process-parts.ts";
import { compileLater, compileOnce, openProject, sha256 } from "./serve-project.ts";
import { risksOf, toLog } from "./telling.ts";

/** What a configuration is loaded from. */
export interface LoadOptions {
  readonly configs: readonly ProjectConfig[];
  /** The faults of the files. */
  readonly faults: readonly Fault[];
  readonly importComponent: ImportComponent | undefined;
  /** Absent: as the projects' `auth` says. */
  readonly callers: Callers | undefined;
  /** Answers requests of the service's own hooks. */
  readonly own: OutboundOptions["own"];
  readonly bodyTimeoutMs: number;
}

/** A configuration that can be served. */
export interface LoadedConfiguration {
  readonly app: Hono;
  readonly configs: readonly ProjectConfig[];
  readonly projects: readonly Project[];
  /** Resolves when every project's database was reached and its configuration compiled; rejects with ConfigError. */
  readonly ready: Promise<void>;
  /** Ends the attempts to reach databases. */
  stop(): void;
  /** Closes the databases. */
  close(): Promise<void>;
}

/** Rejects with ConfigError for every fault that can be found now; nothing stays open then. */
export async function loadConfiguration(
  { configs, faults, importComponent, callers, own, bodyTimeoutMs }: LoadOptions,
  parts: ProcessParts,
): Promise<LoadedConfiguration> {
  const { settings, stores, cache, counters, jobs, hooks, log } = parts;
  const observation = observeProjects(parts.observation, configs, log);
  const shared = { cache, locks: stores.locks, jobs, hooks, observation, own, callers, log };
  const opened = await Promise.all(
    configs.map((config) => openProject(config, { ...shared, importComponent })),
  );
  const stop = () => opened.forEach((one) => one.stop.abort());
  const close = async () => {
    await Promise.all(opened.map(({ project }) => project.db.close()));
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

  const projects = opened.map(({ project }) => project);
  const checkHost = hostCheckOf(settings, projects);
  const pingRedis = stores.ping;
  const docs = settings.docs ? openDocs : "off";
  const edge = { configs, settings, bodyTimeoutMs, checkHost, counters, pingRedis, log };
  const { request: observe } = observation;
  const { board, metrics } = parts;
  const onAnswered = countRequests(metrics);
  const jobsBoard = board !== null;
  const app = appOver(projects, {
    ...edge,
    jobsBoard,
    docs,
    digest: sha256,
    observe,
    onAnswered,
    metricsText: metrics.text,
    onRateLimited: (project, limit) => metrics.rateLimitRefusals.add([project, limit]),
  });
  if (board) mountJobsBoard(app, { board, checkHost, now, newId, log, observe, onAnswered });
  return { app, configs, projects, ready, stop, close };
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

/** Loaded when the page is first asked for. */
const openDocs = async () => (await import("./docs-files.ts")).openDocsFiles();

const now = (): string => new Date().toISOString();
const newId = (): string => crypto.randomUUID();
