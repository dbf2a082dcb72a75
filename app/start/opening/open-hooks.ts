/**
 * Opens the queue of non-blocking hook calls: in the Redis or PostgreSQL of the jobs, or in files of this process. A
 * call that the queue cannot store stays in memory. Without non-blocking hooks, no queue is opened. Queue and calls
 * stay when a configuration is loaded again; its settings then apply to all calls.
 */
import type { ProjectConfig } from "../../../core/config/reading/read-config.ts";
import type { HookQueue, MakeCall } from "../../../core/workflow/hook-queue.ts";
import { limits } from "../../../core/values/limits.ts";
import { withTimeout } from "../../../core/values/with-timeout.ts";
import type { Project } from "../../../core/dispatch.ts";
import type { Background, HookCall } from "../../../core/plans/hook-call.ts";
import type { Log } from "../../../core/plans/log-port.ts";
import type { Outbound } from "../../../core/plans/outbound-port.ts";
import type { QueueCounts } from "../../../core/jobs/queue.ts";
import type { ShownQueue } from "../../../jobs/queue/open/shown-queue.ts";
import { type HookQueuePlace, openHookQueue } from "../../../jobs/queue/open/open-hook-queue.ts";
import {
  createMemoryHooks,
  type ProcessBackground,
} from "../../../jobs/queue/local/memory-hooks.ts";
import { openFiles } from "../../../jobs/files/open-files.ts";
import { hookQueueName, type Settings } from "../settings/env.ts";
import { attempt } from "../../outbound/attempt.ts";
import type { Siblings } from "./siblings.ts";
import { createHeadersOf, withHeaders, withoutHeaders } from "../../outbound/hook-headers.ts";

export interface OpenHooksOptions {
  readonly settings: Settings;
  readonly log: Log;
  /** Null: the process has no parent. */
  readonly siblings: Siblings | null;
}

/** A project, and how its hooks are called. */
export interface HookedProject {
  readonly config: ProjectConfig;
  readonly project: Pick<Project, "outbound">;
}

/** The non-blocking hook calls of a process. */
export interface Hooks {
  /** For the board; null: the calls are in this process, or there are none yet. */
  shown(): ShownQueue | null;
  /** Null: no hook was non-blocking yet. Rejects when the queue is unreachable. */
  counts(): (() => Promise<QueueCounts>) | null;
  forProject(name: string): Background;
  /**
   * Opens the queue if these projects need it and it is not open. Rejects with an Error when the job server may evict
   * jobs, or when STORAGE_URL is not usable.
   */
  prepare(configs: readonly ProjectConfig[]): Promise<void>;
  /** Calls use these projects' settings from now on. The service must already answer for them: hooks may call it. */
  use(projects: readonly HookedProject[]): void;
  /** Calls may continue until `untilMs` (clock of `performance.now()`); the next process makes the remaining ones. */
  stop(untilMs: number): Promise<void>;
}

/** What follows a non-blocking hook waits for its first try at most this long, so that it arrives after it. */
const headStartMs = 100;

/** Opens nothing yet. */
export function openHooks({ settings, log, siblings }: OpenHooksOptions): Hooks {
  let outbounds: ReadonlyMap<string, Outbound> = new Map();
  let headersOf = createHeadersOf([]);
  /** By project. */
  const own = new Map<string, ProcessBackground>();

  /** By the id of a call: ends the wait for its first try. */
  const firstTries = new Map<string, () => void>();
  const makeCall: MakeCall = async (call, signal) => {
    const failure = await tryCall(call, signal);
    firstTries.get(call.id)?.();
    return failure;
  };
  const tryCall: MakeCall = async (call, signal) => {
    const outbound = outbounds.get(call.place.project);
    const headers = headersOf(call.place);
    // Another instance with a different configuration may know the hook.
    if (!outbound || !headers) return { error: new Error("Unknown hook"), isFinal: false };
    return attempt(outbound, withHeaders(call, headers).request, signal);
  };
  let queue: HookQueue | null = null;
  let shown: ShownQueue | null = null;
  let isStarted = false;
  /** The queue that is open at the time of a call. */
  async function queueNow(): Promise<HookQueue> {
    return queue ?? Promise.reject(new Error("No hook queue is open"));
  }
  if (siblings?.number === 1)
    siblings.share({
      hooks: {
        add: async (call) => (await queueNow()).add(call),
        counts: async () => (await queueNow()).counts(),
      },
    });

  async function keep(call: HookCall, background: Background): Promise<void> {
    try {
      const kept = await queueNow();
      await keptInTime(kept.add(withoutHeaders(call, headersOf(call.place))));
    } catch (error) {
      const { requestId, label: hook } = call;
      const message =
        "A hook call could not be stored: it is still made, but lost if the process ends";
      log.warn({ err: error, requestId, hook }, message);
      await background.add([call]);
    }
  }

  /** Gives each call a head start: another process may make it, or its service may not answer. */
  async function begin(calls: readonly HookCall[], background: Background): Promise<void> {
    for (const call of calls) {
      const { promise: tried, resolve } = Promise.withResolvers<void>();
      firstTries.set(call.id, resolve);
      await keep(call, background);
      await withTimeout(tried, { timeoutMs: headStartMs, onTimeout: () => undefined });
      firstTries.delete(call.id);
    }
  }

  /** The calls of a project that this process keeps in memory. */
  function backgroundOf(name: string): ProcessBackground {
    const known = own.get(name);
    if (known) return known;
    const unknown = () => Promise.reject(new Error(`The project ${name} is no longer configured`));
    const background = createMemoryHooks({
      log,
      makeCall: ({ request }, signal) =>
        attempt(outbounds.get(name) ?? { send: unknown }, request, signal),
    });
    own.set(name, background);
    return background;
  }

  return {
    shown: () => shown,
    counts: () => queue && queue.counts,
    forProject(name) {
      const background = backgroundOf(name);
      return {
        begin: (calls) => begin(calls, background),
        async add(calls) {
          await begin(calls.slice(0, -1), background);
          for (const last of calls.slice(-1)) await keep(last, background);
        },
      };
    },
    async prepare(configs) {
      if (queue !== null || !configs.some(hasLaterHooks)) return;
      const { redisUrl, jobsDatabaseUrl } = settings;
      const isInFiles = redisUrl === null && jobsDatabaseUrl === null;
      if (siblings && siblings.number > 1 && isInFiles)
        queue = { ...siblings.hooks, start: () => undefined, stop: async () => undefined };
      else ({ queue, shown } = await openHookQueue(hookQueuePlace(settings, log), makeCall));
    },
    use(projects) {
      outbounds = new Map(projects.map(({ config, project }) => [config.name, project.outbound]));
      headersOf = createHeadersOf(projects.map(({ config }) => config));
      if (!isStarted) queue?.start();
      isStarted = queue !== null;
    },
    async stop(untilMs) {
      const drained = [...own.values()].map(({ drain }) => drain(untilMs));
      await Promise.all([queue?.stop(untilMs), ...drained]);
    },
  };
}

/** Whether an endpoint changes statuses and has a non-blocking hook. */
const hasLaterHooks = ({ endpoints }: ProjectConfig): boolean =>
  endpoints.some(
    ({ payload: { action, workflow } }) =>
      action["change-status"] === true &&
      Object.values(workflow?.hooks ?? {}).some(({ onBefore, onAfter }) =>
        [...onBefore, ...onAfter].some(({ blocking }) => !blocking),
      ),
  );

/** In Redis or PostgreSQL, or in the files of STORAGE_URL. */
export const hookQueuePlace = (settings: Settings, log: Log): HookQueuePlace => ({
  ...settings,
  queueName: hookQueueName(settings),
  openFiles: () => openFiles(settings.storage),
  log,
});

/** Limits how long an answer waits until its hook calls are stored. */
const keptInTime = (adding: Promise<void>): Promise<void> =>
  withTimeout(adding, {
    timeoutMs: limits.jobTimeoutMs,
    onTimeout: () => {
      throw new Error("The hook queue does not answer");
    },
  });
