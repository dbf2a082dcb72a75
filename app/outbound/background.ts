/**
 * Makes the calls that are not waited for, in this process alone: core's `Background`. A call that fails is tried
 * again, a little later each time; what is still waiting when the process ends is lost, and the log says so. For what
 * no queue takes: `app/start/open-hooks.ts` makes one per project, and the edge, which has no queue for hooks, one per
 * request.
 */
import { isGivenUp } from "../../core/workflow/hook-queue.ts";
import { limits } from "../../core/values/limits.ts";
import type { Background, HookCall, Log, Outbound } from "../../core/plans/ports.ts";
import { withTimeout } from "../../core/values/with-timeout.ts";
import { attempt } from "./attempt.ts";

export interface ProcessBackground extends Background {
  /** Resolves when all calls are made, or at this moment (of `performance.now()`), when the others are given up. */
  drain(untilMs: number): Promise<void>;
}

export function createBackground(outbound: Outbound, log: Log): ProcessBackground {
  const waiting: HookCall[] = [];
  const running = new Set<Promise<void>>();
  const stop = new AbortController();

  function startNext(): void {
    while (running.size < limits.hookCallsAtOnceMax && !stop.signal.aborted) {
      const call = waiting.shift();
      if (call === undefined) return;
      const work = perform(call).finally(() => {
        running.delete(work);
        startNext();
      });
      running.add(work);
    }
  }

  async function perform(call: HookCall): Promise<void> {
    const { signal } = stop;
    const triesMax = () => (signal.aborted ? tries : limits.hookOwnTriesMax);
    let tries = 1;
    let failure = await attempt(outbound, call.request, signal);
    while (failure !== null && !isGivenUp(log, call, { ...failure, tries, triesMax: triesMax() })) {
      await pause(limits.hookRetryFirstMs * 2 ** (tries - 1), signal);
      if (signal.aborted) continue;
      tries += 1;
      failure = await attempt(outbound, call.request, signal);
    }
  }

  function addOne(call: HookCall): void {
    if (stop.signal.aborted || waiting.length >= limits.hookCallsWaitingMax) {
      const { requestId, label: hook } = call;
      log.error({ requestId, hook }, "A hook is not called, because too many calls are waiting");
      return;
    }
    waiting.push(call);
    startNext();
  }

  async function idle(): Promise<void> {
    while (running.size > 0) await Promise.all(running);
  }

  return {
    async add(calls) {
      calls.forEach(addOne);
    },
    async drain(untilMs) {
      const timeoutMs = Math.max(untilMs - performance.now(), 0);
      await withTimeout(idle(), { timeoutMs, onTimeout: () => undefined });
      stop.abort();
      if (waiting.length > 0)
        log.error(
          { hooks: waiting.length },
          "Hook calls are lost, because the service is stopping",
        );
      await Promise.all(running);
    },
  };
}

/** Ends early when the signal says so. */
function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, delayMs);
    signal.addEventListener("abort", done);
  });
}
