/**
 * Everything that one request opens on first use and closes after the answer: databases, Redis, the queue, and
 * non-blocking hook calls.
 */
import { hash } from "node:crypto";
import { createCache } from "../../../core/cache/cache.ts";
import type { ProjectConfig } from "../../../core/config/read-config.ts";
import type { Project } from "../../../core/dispatch.ts";
import { limits } from "../../../core/values/limits.ts";
import type { Counters } from "../../../core/plans/ports.ts";
import { remoteDatabaseOf } from "../../../db/open-remote.ts";
import { withFallback } from "../../stores/fallback-counters.ts";
import { openCallers } from "../../callers/open-callers.ts";
import { assembleProject } from "../open-project.ts";
import { createBackground } from "../../outbound/background.ts";
import type { Installation } from "./installation.ts";
import { createEdgeOutbound, type EdgeOutboundOptions } from "./outbound.ts";
import { openRequestJobs } from "./request-jobs.ts";
import { isolateCounters, openRequestStores } from "./request-stores.ts";

export interface RequestParts {
  /** In the order of the configuration; without routes. */
  readonly projects: readonly Project[];
  /** For the rate limits. */
  readonly counters: Counters;
  /** Null without Redis. */
  readonly pingRedis: (() => Promise<boolean>) | null;
  /** Makes the non-blocking hook calls, informs Redis of pending writes, and closes everything. Never rejects. */
  close(): Promise<void>;
}

export async function openRequestParts(
  installation: Installation,
  own: EdgeOutboundOptions["own"],
): Promise<RequestParts> {
  const {
    configs,
    settings,
    pooled,
    keysOf,
    countersReach: reach,
    observation,
    log,
  } = installation;
  const stores = openRequestStores(settings.redisUrl);
  const cache = createCache({ store: stores.cache, digest, log });
  const jobs = openRequestJobs(installation);

  async function open(config: ProjectConfig) {
    const { url } = config.database;
    const { allowedHosts } = config.hooks;
    const outbound = observation.outbound(createEdgeOutbound({ allowedHosts, own }));
    const background = createBackground(outbound, log);
    const project = assembleProject(config, {
      db: await installation.openDb(config),
      database: pooled.has(url) ? null : remoteDatabaseOf(url),
      cache,
      lockStore: stores.locks(config.name),
      outbound,
      background: observation.background(background),
      jobs: jobs.forProject(config),
      callers: openCallers(config.auth, { digest, outbound, log, knownKeys: keysOf(config) }),
      schema: installation.schemaOf(config),
      digest,
      basePath: "",
    });
    return { project, background };
  }

  const opened = await Promise.all(configs.map(open));
  return {
    projects: opened.map(({ project }) => project),
    counters: withFallback(stores.counters, { own: isolateCounters, reach }),
    pingRedis: stores.ping,
    async close() {
      const untilMs = performance.now() + limits.afterAnswerMs;
      await Promise.all(opened.map(({ background }) => background.drain(untilMs)));
      if (!(await cache.settle(untilMs)))
        log.error(
          {},
          "Redis could not be told about a write: lists cached by other instances may be stale",
        );
      cache.close();
      await jobs.close();
      stores.close();
      await Promise.all(opened.map(({ project }) => project.db.close()));
    },
  };
}

export const digest = (text: string): string => hash("sha256", text);
