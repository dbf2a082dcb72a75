/**
 * The queue of non-blocking hook calls for installations without a server for jobs: each call is a small file from when
 * it is added until it was made or has finally failed.
 */
import {
  type HookQueue,
  isGivenUp,
  type HookFailure,
  type MakeCall,
  retryDelayMs,
} from "../../../core/workflow/hook-queue.ts";
import { limits } from "../../../core/values/limits.ts";
import type { Files } from "../../../core/plans/files-port.ts";
import type { HookCall } from "../../../core/plans/hook-call.ts";
import type { Log } from "../../../core/plans/log-port.ts";
import { withTimeout } from "../../../core/values/with-timeout.ts";
import { openDeadCallFiles } from "./dead-call-files.ts";
import { createLocalQueue, type Entry } from "./local-queue.ts";

/** Where calls are kept, and what makes them. */
export interface LocalHooksOptions {
  readonly files: Files;
  readonly makeCall: MakeCall;
  readonly log: Log;
}

/** What a call's file holds. */
interface StoredCall {
  readonly call: HookCall;
  readonly addedAtMs: number;
  /** Those that failed. */
  readonly tries: number;
}

/** Files that could not be read are looked for again after this time. */
const readAgainMs = 5_000;

/**
 * Nothing is read, and no call made, before `start`. One piece, because its functions share the entries, the files of
 * failed calls and the end of the process.
 */
export function createLocalHooks({ files, makeCall, log }: LocalHooksOptions): HookQueue {
  const dead = openDeadCallFiles(files);
  const { entries, tasks, add, drop, recall } = createLocalQueue<StoredCall>({
    files,
    folder: "hooks/",
    unreadable: "The file of a hook call cannot be read",
    log,
    atOnce: limits.hookCallsAtOnceMax,
    idOf: ({ call }) => call.id,
    addedAtMs: ({ addedAtMs }) => addedAtMs,
    isValid: ({ call }) => typeof call.request.url === "string",
    perform,
  });
  const stop = new AbortController();
  let isStopping = false;

  async function perform(entry: Entry<StoredCall>): Promise<number | null> {
    const { call } = entry.value;
    const failure = await makeCall(call, stop.signal);
    // A call that was aborted by the end of the process is made by the next process.
    if (failure !== null && stop.signal.aborted) return null;
    const tries = entry.value.tries + 1;
    const triesMax = limits.hookTriesMax;
    if (failure !== null && !isGivenUp(log, call, { ...failure, tries, triesMax })) {
      // If this fails, a restart only counts the tries from zero.
      await entry.save({ tries }).catch(() => undefined);
      return retryDelayMs(tries);
    }
    if (failure !== null) await bury(call, { ...failure, tries });
    await drop(call.id).catch((error: unknown) => {
      const { requestId, label: hook } = call;
      const message =
        "A finished hook call could not be removed; it will be repeated after a restart";
      log.warn({ err: error, requestId, hook }, message);
    });
    return null;
  }

  /** Keeps the call for operators. */
  async function bury(call: HookCall, failed: HookFailure & { tries: number }): Promise<void> {
    const { id, requestId, label: hook } = call;
    const isKept = await dead.add(call, failed).catch(() => false);
    if (!isKept) log.error({ requestId, hook, call: id }, "A hook call that failed is not kept");
  }

  /** Takes the calls that an operator sends again. */
  async function takeRetried(): Promise<void> {
    for await (const call of dead.retried()) {
      if (isStopping) return;
      await queue.add(call);
      await dead.taken(call.id);
    }
  }

  async function readAll(): Promise<void> {
    await recall().catch((error: unknown) => {
      log.warn({ err: error }, "The files of the hook calls cannot be read; trying again");
      if (!isStopping) reading = setTimeout(() => void readAll(), readAgainMs);
    });
  }

  const look = (): void =>
    void takeRetried().catch((error: unknown) =>
      log.warn({ err: error }, "Hook calls that were sent again cannot be read; trying again"),
    );
  let looking: ReturnType<typeof setInterval> | undefined;
  let reading: ReturnType<typeof setTimeout> | undefined;

  const queue: HookQueue = {
    async add(call) {
      if (isStopping) throw new Error("The service is stopping");
      if (entries.has(call.id)) return;
      if (entries.size >= limits.hookCallsKeptMax)
        throw new Error("Too many hook calls are waiting");
      await add({ call, addedAtMs: Date.now(), tries: 0 });
    },
    start() {
      tasks.start();
      void readAll().then(look);
      looking = setInterval(look, limits.hookRetryLookMs);
      looking.unref?.();
    },
    counts: async () => ({ ...tasks.counts(), completed: 0, failed: await dead.count() }),
    async stop(untilMs) {
      isStopping = true;
      clearInterval(looking);
      clearTimeout(reading);
      tasks.dropDelayed();
      const timeoutMs = Math.max(untilMs - performance.now(), 0);
      await withTimeout(tasks.idle(), { timeoutMs, onTimeout: () => undefined });
      tasks.stop();
      stop.abort();
      await tasks.idle();
    },
  };
  return queue;
}
