/**
 * Creates a running service from configuration files and environment, for runtimes with sockets and files: opens what
 * lives as long as the process (`process-parts.ts`), and loads the configuration over it (`loaded-configuration.ts`), at the
 * start and whenever it is loaded again (`reloads.ts`).
 */
import { systemClock } from "../../core/values/clock.ts";
import type { Callers } from "../../core/callers/callers.ts";
import type { ProjectConfig } from "../../core/config/read-config.ts";
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
import { type Logger, openLog, withSafeErrors } from "./log.ts";
import { openProcessParts } from "./process-parts.ts";
import { readProjects } from "./read-projects.ts";
import { type ConfigSource, createReloads } from "./reloads.ts";
import { createServed, type ServedApp } from "./served.ts";

export interface ServiceOptions extends ConfigSource {
  readonly log?: Logger;
  /** Absent: as the projects' `auth` says. */
  readonly callers?: Callers;
  /** Absent: those of `limits`. */
  readonly timeouts?: Timeouts;
  /** Beside those that the settings switch on. */
  readonly watchers?: readonly Watcher[];
  /** Where the service is mounted, as `/rows`: requests have it before their paths. Absent: at the root. */
  readonly basePath?: string;
}

export interface Service {
  /** Answers requests with the configuration that is served at that moment. */
  readonly app: ServedApp;
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
  /**
   * Loads another configuration and serves it in place of this one, all at once; requests that run finish with this one. Rejects, after
   * logging every fault, when this one stays. The environment's own variables are those of the start.
   */
  reload(read: () => Promise<ConfigSource>): Promise<void>;
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
  log: givenLog,
  callers,
  timeouts = limits,
  watchers,
  basePath,
  ...first
}: ServiceOptions): Promise<Service> {
  const settings = parseEnv(first.env);
  const log = givenLog ? withSafeErrors(givenLog) : await openLog(settings);
  const parts = await openProcessParts({ settings, log, watchers, basePath });
  const { bodyTimeoutMs, uploadReadMs } = timeouts;
  // Nothing that a request does takes longer.
  const requestTimeoutMs = bodyTimeoutMs + uploadReadMs + limits.requestDeadlineMs;
  const served = createServed(requestTimeoutMs);
  const own: OutboundOptions["own"] = (request) => served.app.fetch(request, ownCall);

  async function serve(source: ConfigSource): Promise<LoadedConfiguration> {
    const read = readProjects(source, databaseFaults);
    const before = served.now();
    const { importComponent } = source;
    const edge = { own, callers, bodyTimeoutMs, configState: () => reloads.state() };
    const loaded = await loadConfiguration(
      { read, source, importComponent, before, ...edge },
      parts,
    );
    served.replace(loaded);
    return loaded;
  }

  const reloads = createReloads({
    files: first.files,
    log,
    serve: async (source) => void (await serve(source)),
  });
  const { ready } = await serve(first).catch(async (error: unknown) => {
    await parts.stopWork(0);
    parts.close();
    throw error;
  });
  parts.metrics.onCollect(() => gaugeProjects(parts.metrics, served.now()?.projects ?? []));
  return {
    app: served.app,
    settings,
    timeouts,
    refuse: createRefuse({ now: systemClock, newId, log }),
    log,
    get projects() {
      return served.now()?.configs ?? [];
    },
    isUp: (name) =>
      served.now()?.projects.some((one) => one.name === name && one.routes !== null) ?? false,
    ready,
    reload: reloads.reload,
    stopJobs: parts.jobs.stopRunning,
    async close(hooksUntilMs = 0) {
      await reloads.close();
      served.now()?.stop();
      await parts.stopWork(hooksUntilMs);
      await served.close();
      parts.close();
      await parts.observation.close(performance.now() + limits.farewellMs);
    },
  };
}

const newId = (): string => crypto.randomUUID();
