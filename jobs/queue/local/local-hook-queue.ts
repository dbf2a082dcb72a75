/**
 * The queue of non-blocking hook calls for installations without a server for jobs: each call is a small file from when
 * it is added until it was made or has finally failed. Only one process at a time may use the files.
 */
import {
  type HookQueue,
  isGivenUp,
  type HookFailure,
  type MakeCall,
  retryDelayMs,
} from "../../../core/workflow/hook-queue.ts";
import { limits } from "../../../core/values/limits.ts";
import type { Files, HookCall, Log } from "../../../core/plans/ports.ts";
import { withTimeout } from "../../../core/values/with-timeout.ts";
import { openDeadCallFiles } from "./dead-call-files.ts";
import { createTaskList } from "./task-list.ts";

/** Where calls are kept, and what makes them. */
export interface LocalHookQueueOptions {
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

const folder = "hooks/";
/** Files that could not be read are looked for again after this time. */
const readAgainMs = 5_000;

const keyOf = ({ call }: StoredCall): string => `${folder}${call.id}.json`;

/** Nothing is read, and no call made, before `start`. */
export function createLocalHookQueue(options: LocalHookQueueOptions): HookQueue {
  const { files, makeCall, log } = options;
  /** Ids of calls that are neither made nor given up, and of those among them that are being made or will be again. */
  const known = new Set<string>();
  const active = new Set<string>();
  const delayed = new Set<string>();
  const dead = openDeadCallFiles(files);
  const tasks = createTaskList<StoredCall>({ atOnce: limits.hookCallsAtOnceMax, perform });
  const stop = new AbortController();
  let isStopping = false;

  async function perform(stored: StoredCall): Promise<void> {
    const { call } = stored;
    delayed.delete(call.id);
    active.add(call.id);
    const failure = await makeCall(call, stop.signal).finally(() => active.delete(call.id));
    // A call that was aborted by the end of the process is made by the next process.
    if (failure !== null && stop.signal.aborted) return;
    const tries = stored.tries + 1;
    const triesMax = limits.hookTriesMax;
    const isOver = failure === null || isGivenUp(log, call, { ...failure, tries, triesMax });
    if (isOver) {
      if (failure !== null) await bury(call, { ...failure, tries });
      known.delete(call.id);
      return remove(files, stored, log);
    }
    const failed = { ...stored, tries };
    // If this fails, a restart only counts the tries from zero.
    await save(files, failed).catch(() => undefined);
    delayed.add(call.id);
    tasks.addLater(failed, retryDelayMs(tries));
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
    try {
      const isKnown = ({ call }: StoredCall) => known.has(call.id);
      const found = await readCalls(files, { log, isKnown });
      // Some may have come meanwhile.
      const fresh = found.filter((stored) => !isKnown(stored));
      for (const { call } of fresh) known.add(call.id);
      tasks.addFirst(fresh);
    } catch (error) {
      log.warn({ err: error }, "The files of the hook calls cannot be read; trying again");
      tasks.runLater(() => void readAll(), readAgainMs);
    }
  }

  const look = (): void =>
    void takeRetried().catch((error: unknown) =>
      log.warn({ err: error }, "Hook calls that were sent again cannot be read; trying again"),
    );
  let looking: ReturnType<typeof setInterval> | undefined;

  const queue: HookQueue = {
    async add(call) {
      if (isStopping) throw new Error("The service is stopping");
      if (known.has(call.id)) return;
      if (known.size >= limits.hookCallsKeptMax) throw new Error("Too many hook calls are waiting");
      const stored = { call, addedAtMs: Date.now(), tries: 0 };
      known.add(call.id);
      try {
        await save(files, stored);
      } catch (error) {
        known.delete(call.id);
        throw error;
      }
      tasks.add(stored);
    },
    start() {
      tasks.start();
      void readAll().then(look);
      looking = setInterval(look, limits.hookRetryLookMs);
      looking.unref?.();
    },
    async counts() {
      const waiting = known.size - active.size - delayed.size;
      const failed = await dead.count();
      return { waiting, active: active.size, delayed: delayed.size, completed: 0, failed };
    },
    async stop(untilMs) {
      isStopping = true;
      clearInterval(looking);
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

async function save(files: Files, stored: StoredCall): Promise<void> {
  await files.write(keyOf(stored), [Buffer.from(JSON.stringify(stored))]);
}

async function remove(files: Files, stored: StoredCall, log: Log): Promise<void> {
  await files.remove(keyOf(stored)).catch((error: unknown) => {
    const { requestId, label: hook } = stored.call;
    log.warn(
      { err: error, requestId, hook },
      "A finished hook call could not be removed; it will be repeated after a restart",
    );
  });
}

interface ReadOptions {
  readonly log: Log;
  /** Whether the call is one of this process. Asked when its file was just read: a moment later it may be done. */
  isKnown(stored: StoredCall): boolean;
}

/** What earlier processes left, the oldest first. Rejects while the files are unreachable. */
async function readCalls(files: Files, { log, isKnown }: ReadOptions): Promise<StoredCall[]> {
  const found: StoredCall[] = [];
  for await (const { key } of files.list(folder)) {
    const stored = await readCall(files, key);
    if (!stored) log.warn({ file: key }, "The file of a hook call cannot be read");
    else if (!isKnown(stored)) found.push(stored);
  }
  return found.sort((one, other) => one.addedAtMs - other.addedAtMs);
}

/** Null for what is no call: a file that somebody else put there, or that is gone meanwhile. */
async function readCall(files: Files, key: string): Promise<StoredCall | null> {
  try {
    const stored = JSON.parse(await new Response(await files.read(key)).text()) as StoredCall;
    return key === keyOf(stored) && typeof stored.call.request.url === "string" ? stored : null;
  } catch {
    return null;
  }
}
