/**
 * Hooks that nobody waits for, kept where BullMQ keeps the jobs, in a queue of their own: whichever instance of the service is free makes
 * the next call. `rowgate worker` has no part in it, as a hook may lead back into the service.
 */
import { setTimeout as pause } from "node:timers/promises";
import { type IQueueBackend, type Job, UnrecoverableError, WaitingError, Worker } from "bullmq";
import { type HookQueue, isGivenUp, type MakeCall } from "../../../core/workflow/hook-queue.ts";
import { limits } from "../../../core/limits.ts";
import type { HookCall, Log } from "../../../core/ports.ts";
import {
  type BullmqServer,
  noConnection,
  openServerQueue,
  type ServerQueue,
} from "./bullmq-server.ts";
import { watchForStuck } from "./watchdog.ts";

export interface HookQueueOptions {
  /** For requests, which must not wait for it. Closed with the queue. */
  readonly adding: BullmqServer;
  /** For the calls. Closed with the queue. */
  readonly taking: BullmqServer;
  readonly queueName: string;
  readonly makeCall: MakeCall;
  readonly log: Log;
}

/** JSON in a text, as in `bullmq-queue.ts`. */
interface HookData {
  readonly call: string;
}
type Taken = Job<HookData, string>;
type HookWorker = Worker<HookData, string, string, IQueueBackend>;
type Reader = ServerQueue<HookData>;

/** Pause after a server was out of reach, before the next look. */
const retryMs = 1_000;
/** A server that is silent is not waited for. */
const closeTimeoutMs = 500;
/** How often a stop looks whether calls are still waiting. */
const drainLookMs = 50;

export function createHookQueue(options: HookQueueOptions): HookQueue {
  const { adding, taking, queueName, makeCall, log } = options;
  const stop = new AbortController();
  let opening: Promise<Reader> | null = null;
  let reader: Reader | null = null;
  let worker: HookWorker | null = null;
  let beginning: Promise<void> = Promise.resolve();
  let stopWatchdog = (): void => {};
  let isStopping = false;
  let running = 0;
  let taken = 0;

  function queueOf(): Promise<Reader> {
    opening ??= openServerQueue<HookData>(adding, queueName).catch((error: unknown) => {
      opening = null;
      throw error;
    });
    return opening;
  }

  async function perform(job: Taken, token: string | undefined): Promise<string> {
    running += 1;
    taken += 1;
    try {
      return await makeOnce(job, token);
    } finally {
      running -= 1;
    }
  }

  async function makeOnce(job: Taken, token: string | undefined): Promise<string> {
    const call = JSON.parse(job.data.call) as HookCall;
    const failure = await makeCall(call, stop.signal);
    if (failure === null) return "";
    if (stop.signal.aborted) {
      await job.moveToWait(token);
      throw new WaitingError();
    }
    const [tries, triesMax] = [job.attemptsMade + 1, limits.hookTriesMax];
    const Failure = isGivenUp(log, call, { ...failure, tries, triesMax })
      ? UnrecoverableError
      : Error;
    throw new Failure("The call failed");
  }

  function openWorker(): HookWorker {
    const made: HookWorker = new Worker(
      queueName,
      perform,
      {
        ...noConnection,
        autorun: false,
        concurrency: limits.hookCallsAtOnceMax,
        lockDuration: limits.jobLockMs,
        stalledInterval: limits.jobLookMs,
        maxStalledCount: limits.hookTriesMax,
        runRetryDelay: retryMs,
      },
      taking.backend,
    );
    made.on("error", note);
    made.on("failed", (job, { message }) => {
      if (message.includes("stalled"))
        log.error({ call: job?.id }, "A hook is given up: every process that called it died");
    });
    return made;
  }

  const note = (error: Error) => log.debug({ err: error }, "Trouble with the queue of the hooks");

  /** Both or nothing: what is made over a server that is away never works. */
  async function open(): Promise<void> {
    const made = await openServerQueue<HookData>(taking, queueName);
    const begun = openWorker();
    try {
      await begun.waitUntilReady();
    } catch (error) {
      await Promise.allSettled([begun.close(), made.close()]);
      throw error;
    }
    [reader, worker] = [made, begun];
    begun.run().catch(note);
    const isIdle = () => running === 0;
    stopWatchdog = watchForStuck({ queue: made, taken: () => taken, isIdle, onStuck });
  }

  /** Another worker in the same process: the service cannot end for it. */
  function onStuck(): void {
    log.warn({}, "Hooks wait and none is taken; their worker begins anew");
    void worker?.close(true).catch(note);
    worker = openWorker();
    worker.run().catch(note);
  }

  async function begin(): Promise<void> {
    for (let tries = 1; !isStopping; tries++) {
      try {
        return await open();
      } catch (error) {
        if (tries === 1)
          log.warn({ err: error }, "The queue of the hooks is out of reach; trying again");
        await pause(retryMs, undefined, { ref: false });
      }
    }
  }

  /** Calls of the last requests are still made, as far as there is time. */
  async function drain(untilMs: number): Promise<void> {
    while (reader && performance.now() < untilMs) {
      const left = await within(reader.getWaitingCount(), closeTimeoutMs);
      // A server that is away gives none, and takes back none.
      if (!left && running === 0) return;
      await pause(drainLookMs);
    }
  }

  return {
    async add(call) {
      const queue = await queueOf();
      if (!adding.keepsJobs()) throw new Error("The server of the jobs may throw them away");
      const data = { call: JSON.stringify(call) };
      await queue.add("hook", data, {
        jobId: call.id,
        attempts: limits.hookTriesMax,
        backoff: { type: "exponential", delay: limits.hookRetryFirstMs, jitter: 0.5 },
        removeOnComplete: true,
        removeOnFail: true,
      });
    },
    start() {
      beginning = begin();
    },
    async stop(untilMs) {
      isStopping = true;
      await within(beginning, retryMs);
      stopWatchdog();
      const drained = drain(untilMs);
      await within(drained, Math.max(untilMs - performance.now(), 0));
      stop.abort();
      const added = await within(opening, closeTimeoutMs);
      await within(Promise.allSettled([worker?.close()]), 2 * closeTimeoutMs);
      await within(Promise.allSettled([added?.close(), reader?.close()]), closeTimeoutMs);
      await Promise.all([adding.close(), taking.close()]);
    },
  };
}

/** Null when it fails, or takes longer. */
const within = <T>(work: Promise<T> | null, ms: number): Promise<T | null> =>
  Promise.race([Promise.resolve(work).catch(() => null), pause(ms, null, { ref: false })]);
