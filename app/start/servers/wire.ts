/**
 * Creates a running service from configuration files and environment, for runtimes with sockets and files. Opens the
 * parts that live as long as the process (`process-parts.ts`) and loads the configuration over them
 * (`loaded-configuration.ts`), at the start and at each reload (`reloads.ts`).
 */
import type { Callers } from "../../../core/callers/callers.ts";
import type { ProjectConfig } from "../../../core/config/reading/read-config.ts";
import { limits } from "../../../core/values/limits.ts";
import { databaseFaults, isInMemory } from "../../../db/open.ts";
import { ownCall } from "../../http/client-address.ts";
import type { DeliveryTimes } from "../../../core/webhooks/webhook-sender.ts";
import type { Watcher } from "../../observe/watcher.ts";
import { countQueues, deliveryCounts, gaugeProjects } from "../../metrics/gauges.ts";
import { createRefuse, type Refuse } from "../../http/exchange.ts";
import type { OutboundOptions } from "../../outbound/outbound-client.ts";
import { createRuntime } from "../settings/create-runtime.ts";
import { parseEnv, type Settings } from "../settings/env.ts";
import type { Timeouts } from "./listening.ts";
import { loadConfiguration, type LoadedConfiguration } from "../opening/loaded-configuration.ts";
import { type Logger, openLog, withSafeErrors } from "../observing/log.ts";
import { openProcessParts } from "../opening/process-parts.ts";
import type { Siblings } from "../opening/siblings.ts";
import { readProjects } from "../settings/read-projects.ts";
import { type ConfigSource, createReloads } from "../reloading/reloads.ts";
import { createServed, type ServedApp } from "./served.ts";

export interface ServiceOptions extends ConfigSource {
  readonly log?: Logger;
  /** Absent: as the projects' `auth` says. */
  readonly callers?: Callers;
  /** Absent: those of `limits`. */
  readonly timeouts?: Timeouts;
  /** Beside those that the settings switch on. */
  readonly watchers?: readonly Watcher[];
  /** Absent: those of `limits`. */
  readonly deliveryTimes?: DeliveryTimes;
  /** The processes beside this one, under one parent. Absent: there is no parent. */
  readonly siblings?: Siblings;
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
   * Loads another configuration and replaces this one with it at once; running requests finish with this one. Rejects,
   * after logging every fault, when this one stays. Variables of the environment itself keep their values of the start.
   */
  reload(read: () => Promise<ConfigSource>): Promise<void>;
  /** The metrics of this process. */
  metricsText(): Promise<string>;
  /** Jobs that run in this process stop at a safe point; requests are still answered. */
  stopJobs(): Promise<void>;
  /** Streams of changes end, and further ones end at once: their clients go on at another instance. */
  endStreams(): void;
  /**
   * Non-blocking hook calls and deliveries of webhooks may continue until `hooksUntilMs` (clock of `performance.now()`; absent: they stop now);
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
  deliveryTimes,
  basePath,
  siblings,
  ...first
}: ServiceOptions): Promise<Service> {
  const settings = parseEnv(first.env);
  const log = givenLog ? withSafeErrors(givenLog) : await openLog(settings, siblings?.number);
  const runtime = createRuntime(log, basePath);
  const parts = await openProcessParts({ settings, runtime, watchers, siblings: siblings ?? null });
  const { bodyTimeoutMs, uploadReadMs } = timeouts;
  // No request takes longer.
  const requestTimeoutMs = bodyTimeoutMs + uploadReadMs + limits.requestDeadlineMs;
  const served = createServed(requestTimeoutMs);
  const own: OutboundOptions["own"] = (request) => served.app.fetch(request, ownCall);

  async function serve(source: ConfigSource): Promise<LoadedConfiguration> {
    const read = readProjects(source, databaseFaults);
    if (siblings) read.projects.forEach(refuseOwnMemory);
    const before = served.now();
    const { importComponent } = source;
    const configState = siblings?.configState ?? (() => reloads.state());
    const metricsText = siblings?.metricsText ?? parts.metrics.text;
    const edge = { own, callers, bodyTimeoutMs, deliveryTimes, configState, metricsText };
    const loaded = await loadConfiguration(
      { read, source, importComponent, before, ...edge },
      parts,
    );
    served.replace(loaded);
    return loaded;
  }

  const reloads = createReloads<ConfigSource>({
    files: first.files,
    log,
    serve: async (source) => void (await serve(source)),
  });
  const { ready, projects } = await serve(first).catch(async (error: unknown) => {
    await parts.stopWork(0);
    await parts.close();
    throw error;
  });
  // A process before this one may have died between a commit and the end of what Redis keeps for reads.
  await Promise.all(projects.map(({ cache }) => cache.wrote(["unknown"])));
  const { metrics, jobs, hooks } = parts;
  metrics.onCollect(async () => {
    const projects = served.now()?.projects ?? [];
    gaugeProjects(metrics, projects);
    // All processes would tell the same numbers.
    if (siblings && siblings.number > 1) return;
    const webhooks = deliveryCounts(projects.map((project) => project.webhooks.counts));
    await countQueues(metrics, { jobs: jobs.counts(), hooks: hooks.counts(), webhooks });
  });
  return {
    app: served.app,
    settings,
    timeouts,
    refuse: createRefuse(runtime),
    log,
    get projects() {
      return served.now()?.configs ?? [];
    },
    isUp: (name) =>
      served.now()?.projects.some((one) => one.name === name && one.routes !== null) ?? false,
    ready,
    reload: reloads.reload,
    metricsText: metrics.text,
    stopJobs: parts.jobs.stopRunning,
    endStreams() {
      for (const { feed } of served.now()?.projects ?? []) feed.close();
    },
    async close(hooksUntilMs = 0) {
      await reloads.close();
      served.now()?.stop(hooksUntilMs);
      await parts.stopWork(hooksUntilMs);
      await served.close();
      await parts.close();
      await parts.observation.close(performance.now() + limits.farewellMs);
    },
  };
}

/** Processes under one parent answer as one service, so they must use one database. */
function refuseOwnMemory({ name, database }: ProjectConfig): void {
  if (!isInMemory(database.url)) return;
  throw new Error(
    `${name}: with --processes, each process would have its own database in memory; use a file or a server`,
  );
}
