/**
 * Opens the queue of non-blocking hook calls: in the Redis or PostgreSQL of the jobs, or in files of this process. A
 * call that the queue cannot store stays in memory. Without non-blocking hooks, no queue is opened.
 */
import type { ProjectConfig } from "../../core/config/read-config.ts";
import type { HookQueue, MakeCall } from "../../core/workflow/hook-queue.ts";
import { limits } from "../../core/values/limits.ts";
import { withTimeout } from "../../core/values/with-timeout.ts";
import type { Background, HookCall, Log, Outbound, QueueCounts } from "../../core/plans/ports.ts";
import type { BullmqServer } from "../../jobs/queue/bullmq/bullmq-server.ts";
import { createLocalHookQueue } from "../../jobs/queue/local/local-hook-queue.ts";
import { openBullmqServer } from "../../jobs/queue/bullmq/open-bullmq-server.ts";
import { openFiles } from "../../jobs/files/open-files.ts";
import type { Settings } from "./env.ts";
import { hookQueueName } from "./queue-names.ts";
import { attempt } from "../outbound/attempt.ts";
import { createBackground, type ProcessBackground } from "../outbound/background.ts";
import { createHeadersOf, withHeaders, withoutHeaders } from "../outbound/hook-headers.ts";

/** What the queue of hooks is opened from. */
export interface OpenHooksOptions {
  readonly projects: readonly ProjectConfig[];
  readonly settings: Settings;
  readonly log: Log;
}

/** The non-blocking hook calls of a process. */
export interface Hooks {
  /** Where the calls are kept; null: in this process, or there are none. */
  readonly server: BullmqServer | null;
  /** Null: no hook is non-blocking. Rejects when the queue is unreachable. */
  readonly counts: (() => Promise<QueueCounts>) | null;
  /** `outbound`: how the project's hooks are called. */
  forProject(name: string, outbound: Outbound): Background;
  /** Starts making calls. The service must already answer, because hooks may call it. */
  start(): void;
  /** Calls may continue until `untilMs` (clock of `performance.now()`); the next process makes the remaining ones. */
  stop(untilMs: number): Promise<void>;
}

/** Rejects with an Error when the job server may evict jobs, or when STORAGE_URL is not usable. */
export async function openHooks({ projects, settings, log }: OpenHooksOptions): Promise<Hooks> {
  const outbounds = new Map<string, Outbound>();
  const own: ProcessBackground[] = [];
  const headersOf = createHeadersOf(projects);

  const makeCall: MakeCall = async (call, signal) => {
    const outbound = outbounds.get(call.place.project);
    const headers = headersOf(call.place);
    // Another instance with a different configuration may know the hook.
    if (!outbound || !headers) return { error: new Error("Unknown hook"), isFinal: false };
    return attempt(outbound, withHeaders(call, headers).request, signal);
  };
  const opened = projects.some(hasLaterHooks)
    ? await openQueue(settings, { makeCall, log })
    : { queue: null, server: null };
  const { queue, server } = opened;

  async function keep(call: HookCall, background: Background): Promise<void> {
    try {
      if (queue === null) throw new Error("No hook queue is open");
      await keptInTime(queue.add(withoutHeaders(call, headersOf(call.place))));
    } catch (error) {
      const { requestId, label: hook } = call;
      const message =
        "A hook call could not be stored: it is still made, but lost if the process ends";
      log.warn({ err: error, requestId, hook }, message);
      await background.add([call]);
    }
  }

  return {
    server,
    counts: queue && queue.counts,
    forProject(name, outbound) {
      outbounds.set(name, outbound);
      const background = createBackground(outbound, log);
      own.push(background);
      return {
        async add(calls) {
          await Promise.all(calls.map((call) => keep(call, background)));
        },
      };
    },
    start: () => queue?.start(),
    async stop(untilMs) {
      await Promise.all([queue?.stop(untilMs), ...own.map(({ drain }) => drain(untilMs))]);
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

async function openQueue(
  settings: Settings,
  { makeCall, log }: { makeCall: MakeCall; log: Log },
): Promise<{ readonly queue: HookQueue; readonly server: BullmqServer | null }> {
  const adding = await openBullmqServer(settings, { use: "service", log });
  if (adding === null) {
    const files = await openFiles(settings.storage);
    return { queue: createLocalHookQueue({ files, makeCall, log }), server: null };
  }
  const taking = await openBullmqServer(settings, { use: "worker", log });
  const { createBullmqHookQueue } = await import("../../jobs/queue/bullmq/bullmq-hook-queue.ts");
  const queueName = hookQueueName(settings);
  const options = { adding, taking: taking!, queueName, makeCall, log };
  return { queue: createBullmqHookQueue(options), server: adding };
}

/** Limits how long an answer waits until its hook calls are stored. */
const keptInTime = (adding: Promise<void>): Promise<void> =>
  withTimeout(adding, {
    timeoutMs: limits.jobTimeoutMs,
    onTimeout: () => {
      throw new Error("The hook queue does not answer");
    },
  });
