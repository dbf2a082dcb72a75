/**
 * Everything that one request opens on first use and closes after the answer: databases, Redis, the queue, and
 * non-blocking hook calls.
 */
import { createCache } from "../../../core/cache/cache.ts";
import type { ProjectConfig } from "../../../core/config/reading/read-config.ts";
import type { Project } from "../../../core/dispatch.ts";
import { limits } from "../../../core/values/limits.ts";
import type { Counters } from "../../../core/plans/counters.ts";
import { remoteDatabaseOf } from "../../../db/open-remote.ts";
import { withFallback } from "../../stores/fallback-counters.ts";
import { openProject, type ProjectParts } from "../opening/open-project.ts";
import { attempt } from "../../outbound/attempt.ts";
import {
  createMemoryHooks,
  type ProcessBackground,
} from "../../../jobs/queue/local/memory-hooks.ts";
import type { Installation } from "./installation.ts";
import { createHookDepths, type HookDepths } from "../../../core/workflow/hook-depth.ts";
import { createEdgeOutbound, type EdgeOutboundOptions } from "./outbound.ts";
import { openRequestJobs } from "./request-jobs.ts";
import { isolateCounters, openRequestStores } from "./request-stores.ts";

export interface RequestParts {
  /** In the order of the configuration; without routes. */
  readonly projects: readonly Project[];
  /** For the rate limits. */
  readonly counters: Counters;
  readonly hookDepths: HookDepths;
  /** Null without Redis. */
  readonly pingRedis: (() => Promise<boolean>) | null;
  /** Makes the non-blocking hook calls, sends what webhooks are to be told, informs Redis of pending writes, and closes everything. Never rejects. */
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
    runtime,
  } = installation;
  const { log } = runtime;
  const stores = openRequestStores(settings.redisUrl);
  const cache = createCache({ ...runtime, store: stores.cache });
  const jobs = openRequestJobs(installation);
  const hookDepths = createHookDepths({ ...runtime, secret: stores.secret });

  async function open(config: ProjectConfig) {
    const { url } = config.database;
    let background: ProcessBackground | undefined;
    const parts: ProjectParts = {
      // No process here has streams, and one that ends with its request cannot wait to send a message.
      nudge: null,
      streams: stores.streams(config.name),
      db: await installation.openDb(config),
      database: pooled.has(url) ? null : remoteDatabaseOf(url),
      lockStore: stores.locks(config.name),
      outboundTo: (allowedHosts) => createEdgeOutbound({ allowedHosts, own }),
      backgroundOver: (outbound) =>
        (background = createMemoryHooks({
          log,
          makeCall: (call, signal) => attempt(outbound, call.request, signal),
        })),
      jobs: jobs.forProject(config),
      knownKeys: keysOf(config),
      schema: installation.schemaOf(config),
    };
    const project = openProject(config, parts, { runtime, cache, hookDepths, observation });
    return { project, background };
  }

  const opened = await Promise.all(configs.map(open));
  return {
    projects: opened.map(({ project }) => project),
    counters: withFallback(stores.counters, { own: isolateCounters, reach }),
    hookDepths,
    pingRedis: stores.ping,
    async close() {
      const untilMs = performance.now() + limits.afterAnswerMs;
      await Promise.all(
        opened.flatMap(({ background, project: { webhooks, files } }) => [
          background?.drain(untilMs),
          webhooks.stop(untilMs),
          files.afterRequest(untilMs),
        ]),
      );
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
