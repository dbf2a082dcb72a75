/**
 * Makes non-blocking hook calls in this process: core's `Background`. A failed call is repeated, a little later each
 * time. Calls still waiting when the process ends are lost, which is logged. For calls without a queue.
 */
import { type FailedTry, isGivenUp, type MakeCall } from "../../../core/workflow/hook-queue.ts";
import { limits } from "../../../core/values/limits.ts";
import type { Background, HookCall } from "../../../core/plans/hook-call.ts";
import type { Log } from "../../../core/plans/log-port.ts";
import { withTimeout } from "../../../core/values/with-timeout.ts";
import { createLocalQueue } from "./local-queue.ts";

/** What makes the calls. */
export interface MemoryHooksOptions {
  readonly makeCall: MakeCall;
  readonly log: Log;
}

export interface ProcessBackground extends Background {
  /** Resolves when all calls are made, or at this moment (of `performance.now()`), when the others are given up. */
  drain(untilMs: number): Promise<void>;
}

interface WaitingCall {
  readonly call: HookCall;
  /** The last try; null: there was none. */
  readonly failed: Omit<FailedTry, "triesMax"> | null;
}

export function createMemoryHooks({ makeCall, log }: MemoryHooksOptions): ProcessBackground {
  const stop = new AbortController();
  const { tasks, add, drop } = createLocalQueue<WaitingCall>({
    files: null,
    folder: "",
    unreadable: "",
    log,
    atOnce: limits.hookCallsAtOnceMax,
    idOf: ({ call }) => call.id,
    addedAtMs: () => 0,
    isValid: () => true,
    async perform(entry) {
      const { call, failed: before } = entry.value;
      const failure = await makeCall(call, stop.signal);
      const failed = failure && { ...failure, tries: (before?.tries ?? 0) + 1 };
      if (failed === null || isLast({ call, failed })) {
        await drop(call.id);
        return null;
      }
      await entry.save({ failed });
      return limits.hookRetryFirstMs * 2 ** (failed.tries - 1);
    },
  });

  /** After the end of the process no call is tried again. */
  function isLast({ call, failed }: WaitingCall): boolean {
    if (failed === null) return false;
    const triesMax = stop.signal.aborted ? failed.tries : limits.hookOwnTriesMax;
    return isGivenUp(log, call, { ...failed, triesMax });
  }

  function addOne(call: HookCall): void {
    if (stop.signal.aborted || tasks.counts().waiting >= limits.hookCallsWaitingMax) {
      const { requestId, label: hook } = call;
      log.error({ requestId, hook }, "A hook is not called, because too many calls are waiting");
      return;
    }
    void add({ call, failed: null });
  }

  const addAll = async (calls: readonly HookCall[]): Promise<void> => calls.forEach(addOne);
  tasks.start();
  return {
    add: addAll,
    begin: addAll,
    async drain(untilMs) {
      const timeoutMs = Math.max(untilMs - performance.now(), 0);
      await withTimeout(tasks.allDone(), { timeoutMs, onTimeout: () => undefined });
      stop.abort();
      const lost = tasks.counts().waiting;
      for (const { value } of tasks.stop()) isLast(value);
      if (lost > 0)
        log.error({ hooks: lost }, "Hook calls are lost, because the service is stopping");
      await tasks.idle();
    },
  };
}
