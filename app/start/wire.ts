/**
 * Creates a running service from configuration files and environment, for runtimes with sockets and files: opens what
 * lives as long as the process (`process-parts.ts`), and loads the configuration over it (`loaded-configuration.ts`).
 */
import type { Hono } from "hono";
import type { Callers } from "../../core/callers/callers.ts";
import type { ImportComponent } from "../../core/config/components-plan.ts";
import type { ConfigFiles, ProjectConfig } from "../../core/config/read-config.ts";
import { limits } from "../../core/values/limits.ts";
import { databaseFaults } from "../../db/open.ts";
import { ownCall } from "../http/client-address.ts";
import type { Watcher } from "../observe/watcher.ts";
import { gaugeProjects } from "../metrics/project-gauges.ts";
import { createRefuse, type Refuse } from "../http/refuse.ts";
import type { OutboundOptions } from "../outbound/outbound-client.ts";
import { parseEnv, type Settings } from "./env.ts";
import type { Timeouts } from "./listening.ts";
import { loadConfiguration, type LoadedConfiguration } from "./loaded-configuration.ts";
import { createLog, type Logger } from "./log.ts";
import { openProcessParts } from "./process-parts.ts";
import { readProjects } from "./read-projects.ts";

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
  /** Answers requests with the configuration that is served at that moment. */
  readonly app: Pick<Hono, "fetch" | "request">;
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
  // A configuration with faults is not served, so no job of an earlier process continues either.
  const served = faults.length > 0 ? [] : configs;
  const parts = await openProcessParts({ settings, log, projects: served, files, env, watchers });
  const { hooks, jobs } = parts;
  let loaded: LoadedConfiguration | null = null;
  const own: OutboundOptions["own"] = (request) => loaded!.app.fetch(request, ownCall);
  const { bodyTimeoutMs } = timeouts;
  const options = { configs, faults, importComponent, callers, own, bodyTimeoutMs };
  const first = await loadConfiguration(options, parts).catch(async (error: unknown) => {
    await parts.stopWork(0);
    parts.close();
    throw error;
  });
  loaded = first;
  parts.metrics.onCollect(() => gaugeProjects(parts.metrics, loaded!.projects));
  hooks.start();
  return {
    app: first.app,
    settings,
    timeouts,
    refuse: createRefuse({
      now: () => new Date().toISOString(),
      newId: () => crypto.randomUUID(),
      log,
    }),
    log,
    projects: configs,
    isUp: (name) => first.projects.some((one) => one.name === name && one.routes !== null),
    ready: first.ready,
    stopJobs: jobs.stopRunning,
    async close(hooksUntilMs = 0) {
      first.stop();
      await parts.stopWork(hooksUntilMs);
      await first.close();
      parts.close();
      await parts.observation.close(performance.now() + limits.farewellMs);
    },
  };
}
