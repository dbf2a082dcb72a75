/**
 * Hooks that nobody waits for, kept in files by installations without a server for jobs: each call is a small file from the moment that it is
 * added until it was made or is given up. One process at a time may use them.
 */
import {
  type HookQueue,
  isGivenUp,
  type MakeCall,
  retryDelayMs,
} from "../../../core/workflow/hook-queue.ts";
import { limits } from "../../../core/limits.ts";
import type { Files, HookCall, Log } from "../../../core/ports.ts";

export interface LocalHookQueueOptions {
  readonly files: Files;
  readonly makeCall: MakeCall;
  readonly log: Log;
}

/** What a call's file holds. */
interface Kept {
  readonly call: HookCall;
  readonly addedAtMs: number;
  /** Those that failed. */
  readonly tries: number;
}

const folder = "hooks/";
/** Files that could not be read are looked for again after this time. */
const readAgainMs = 5_000;

const keyOf = ({ call }: Kept): string => `${folder}${call.id}.json`;

export function createLocalHookQueue({ files, makeCall, log }: LocalHookQueueOptions): HookQueue {
  /** Calls that are neither made nor given up. */
  const known = new Set<string>();
  const waiting: Kept[] = [];
  const running = new Set<Promise<void>>();
  const timers = new Set<ReturnType<typeof setTimeout>>();
  const stop = new AbortController();
  let isStarted = false;
  let isStopping = false;

  const save = (kept: Kept) => files.write(keyOf(kept), [Buffer.from(JSON.stringify(kept))]);

  function pump(): void {
    if (!isStarted) return;
    while (running.size < limits.hookCallsAtOnceMax && !stop.signal.aborted) {
      const kept = waiting.shift();
      if (kept === undefined) return;
      const work = perform(kept).finally(() => {
        running.delete(work);
        pump();
      });
      running.add(work);
    }
  }

  async function perform(kept: Kept): Promise<void> {
    const { call } = kept;
    const failure = await makeCall(call, stop.signal);
    // What the end of the process broke off is the next one's to make.
    if (failure !== null && stop.signal.aborted) return;
    const tries = kept.tries + 1;
    const triesMax = limits.hookTriesMax;
    if (failure === null || isGivenUp(log, call, { ...failure, tries, triesMax }))
      return forget(kept);
    const failed = { ...kept, tries };
    // Without it, a restart only begins to count anew.
    await save(failed).catch(() => undefined);
    later(() => {
      waiting.push(failed);
      pump();
    }, retryDelayMs(tries));
  }

  async function forget(kept: Kept): Promise<void> {
    known.delete(kept.call.id);
    await files.remove(keyOf(kept)).catch((error: unknown) => {
      const { requestId, label: hook } = kept.call;
      log.warn({ err: error, requestId, hook }, "A hook is done, and a restart will call it again");
    });
  }

  function later(work: () => void, delayMs: number): void {
    if (isStopping) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      work();
    }, delayMs);
    timers.add(timer);
  }

  /** What earlier processes left. */
  async function readAll(): Promise<void> {
    const found: Kept[] = [];
    try {
      for await (const { key } of files.list(folder)) {
        const kept = await readKept(files, key);
        if (!kept) log.warn({ file: key }, "The file of a hook cannot be read");
        else if (!known.has(kept.call.id)) found.push(kept);
      }
    } catch (error) {
      log.warn({ err: error }, "The files of hooks cannot be read; trying again");
      return later(() => void readAll(), readAgainMs);
    }
    found.sort((one, other) => one.addedAtMs - other.addedAtMs);
    // Some may have come meanwhile.
    const fresh = found.filter(({ call }) => !known.has(call.id));
    for (const { call } of fresh) known.add(call.id);
    waiting.unshift(...fresh);
    pump();
  }

  return {
    async add(call) {
      if (isStopping) throw new Error("The service is stopping");
      if (known.size >= limits.hookCallsKeptMax) throw new Error("Too many hooks are waiting");
      const kept = { call, addedAtMs: Date.now(), tries: 0 };
      known.add(call.id);
      try {
        await save(kept);
      } catch (error) {
        known.delete(call.id);
        throw error;
      }
      waiting.push(kept);
      pump();
    },
    start() {
      isStarted = true;
      void readAll();
    },
    async stop(untilMs) {
      isStopping = true;
      for (const timer of timers) clearTimeout(timer);
      const end = setTimeout(() => stop.abort(), Math.max(untilMs - performance.now(), 0));
      const aborted = new Promise((resolve) => stop.signal.addEventListener("abort", resolve));
      while (running.size > 0 && !stop.signal.aborted) await Promise.race([...running, aborted]);
      clearTimeout(end);
      stop.abort();
      await Promise.all(running);
    },
  };
}

/** Null for what is no call: a file that somebody else put there, or that is gone meanwhile. */
async function readKept(files: Files, key: string): Promise<Kept | null> {
  try {
    const kept = JSON.parse(await new Response(await files.read(key)).text()) as Kept;
    return key === keyOf(kept) && typeof kept.call.request.url === "string" ? kept : null;
  } catch {
    return null;
  }
}
