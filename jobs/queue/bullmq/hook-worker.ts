/**
 * Makes the calls of the hook queue over BullMQ. It runs within a service, which cannot exit when its worker stops
 * receiving calls, so the worker is replaced.
 */
import { setTimeout as pause } from "node:timers/promises";
import { UnrecoverableError } from "bullmq";
import { limits } from "../../../core/values/limits.ts";
import type { HookCall } from "../../../core/plans/hook-call.ts";
import type { Log } from "../../../core/plans/log-port.ts";
import { isGivenUp, type MakeCall, briefReason } from "../../../core/workflow/hook-queue.ts";
import { type BullmqServer, resolvedWithin } from "./bullmq-server.ts";
import {
  createServerWorker,
  type OpenedWorker,
  openWorkerWhenReached,
  putBack,
  retryMs,
  type ServerWorker,
  type TakenJob,
  type QueueWorkerOptions,
} from "./open-worker.ts";
import { watchForStuck } from "./watchdog.ts";

/** What the worker takes calls from, and what makes them. */
export interface HookWorkerOptions {
  readonly server: BullmqServer;
  readonly queueName: string;
  readonly makeCall: MakeCall;
  readonly log: Log;
}

/** A call is JSON in a text, as the request of a job is. */
export interface HookData {
  readonly call: string;
}

/** A worker that makes hook calls. */
export interface HookWorker {
  /** Starts to make calls, as soon as the server is reachable. */
  start(): void;
  /** Resolves when no calls are left, or at this time (of `performance.now()`) after aborting those in progress. */
  drain(untilMs: number): Promise<void>;
  /** After `drain`. */
  close(): Promise<void>;
}

/** How long an unresponsive server is waited for. */
const closeTimeoutMs = 500;
/** How often `drain` checks for waiting calls. */
const drainLookMs = 50;

/** Sends nothing to the server before `start`. */
export function createHookWorker(options: HookWorkerOptions): HookWorker {
  const { log } = options;
  const calls = createCalls(options);
  const workerOptions = workerOptionsOf(options, calls);
  const stopping = new AbortController();
  let opening: Promise<void> = Promise.resolve();
  let opened: OpenedWorker<HookData> | null = null;
  let stopWatchdog = (): void => {};

  async function open(): Promise<void> {
    opened = await openWorkerWhenReached(workerOptions, {
      signal: stopping.signal,
      onUnreachable: (error) =>
        log.warn({ err: error }, "The hook queue is not reachable; trying again"),
    });
    run(opened.worker);
    const { queue } = opened;
    stopWatchdog = watchForStuck({ queue, taken: calls.begun, isIdle: calls.isIdle, onStuck });
  }

  function run(worker: ServerWorker<HookData>): void {
    worker.on("failed", (job, { message }) => {
      if (message.includes("stalled"))
        log.error(
          { call: job?.id },
          "A hook is not tried again, because every process that called it died",
        );
    });
    worker.run().catch(workerOptions.onError);
  }

  function onStuck(): void {
    if (opened === null) return;
    log.warn({}, "Hook calls are waiting but none is processed; the hook worker restarts");
    const { queue, worker } = opened;
    void worker.close(true).catch(workerOptions.onError);
    opened = { queue, worker: createServerWorker(queue, workerOptions) };
    run(opened.worker);
  }

  async function untilNoneWaits(untilMs: number): Promise<void> {
    while (opened && performance.now() < untilMs) {
      const left = await resolvedWithin(opened.queue.getWaitingCount(), closeTimeoutMs);
      // An unreachable server delivers no calls and takes none back.
      if (!left && calls.isIdle()) return;
      await pause(drainLookMs);
    }
  }

  return {
    start() {
      opening = open().catch((error: unknown) => {
        if (!stopping.signal.aborted) throw error;
      });
    },
    async drain(untilMs) {
      stopping.abort();
      await resolvedWithin(opening, retryMs);
      stopWatchdog();
      const leftMs = Math.max(untilMs - performance.now(), 0);
      await resolvedWithin(untilNoneWaits(untilMs), leftMs);
      calls.breakOff();
    },
    async close() {
      await resolvedWithin(opened?.worker.close(), 2 * closeTimeoutMs);
      await resolvedWithin(opened?.queue.close(), closeTimeoutMs);
    },
  };
}

function workerOptionsOf(
  { server, queueName, log }: HookWorkerOptions,
  { perform }: Calls,
): QueueWorkerOptions<HookData> {
  return {
    server,
    queueName,
    atOnce: limits.hookCallsAtOnceMax,
    lockMs: limits.jobLockMs,
    lookMs: limits.jobLookMs,
    takeOversMax: limits.hookTriesMax,
    perform,
    onError: (error) => log.debug({ err: error }, "Error of the hook queue"),
  };
}

interface Calls {
  /** Makes the call once; rejects with an error that tells BullMQ what to do with it. */
  perform(taken: TakenJob<HookData>): Promise<string>;
  /** Aborts calls in progress; these, and all later ones, go back to the queue. */
  breakOff(): void;
  /** Number of calls since the start, each try counted. */
  begun(): number;
  isIdle(): boolean;
}

function createCalls({ makeCall, log }: HookWorkerOptions): Calls {
  const end = new AbortController();
  let begun = 0;
  let running = 0;

  async function makeOnce(taken: TakenJob<HookData>): Promise<string> {
    const { job } = taken;
    const call = JSON.parse(job.data.call) as HookCall;
    const failure = await makeCall(call, end.signal);
    if (failure === null) return "";
    if (end.signal.aborted) throw await putBack(taken);
    const [tries, triesMax] = [job.attemptsMade + 1, limits.hookTriesMax];
    const isLast = isGivenUp(log, call, { ...failure, tries, triesMax });
    throw new (isLast ? UnrecoverableError : Error)(briefReason(failure));
  }

  return {
    async perform(taken) {
      begun += 1;
      running += 1;
      try {
        return await makeOnce(taken);
      } finally {
        running -= 1;
      }
    },
    breakOff: () => end.abort(),
    begun: () => begun,
    isIdle: () => running === 0,
  };
}
