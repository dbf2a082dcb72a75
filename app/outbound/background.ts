/**
 * Makes the calls that nobody waits for, in this process: core's `Background`. A call that fails is tried again, a little later
 * each time; what is still waiting when the process ends is lost, and the log says so. `app/wire.ts` makes one per project.
 */
import { limits } from "../../core/limits.ts";
import type { Background, HookCall, Log, Outbound } from "../../core/ports.ts";

export interface ProcessBackground extends Background {
  /** Resolves when all calls are made, or at this moment (of `performance.now()`), when the others are given up. */
  drain(untilMs: number): Promise<void>;
}

interface Failure {
  readonly error: unknown;
  /** True: the same call would fail again. */
  readonly isFinal: boolean;
}

export function createBackground(outbound: Outbound, log: Log): ProcessBackground {
  const waiting: HookCall[] = [];
  const running = new Set<Promise<void>>();
  const stop = new AbortController();
  const stopped = new Promise<void>((resolve) => {
    stop.signal.addEventListener("abort", () => resolve());
  });

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
    for (let tries = 1; ; tries++) {
      const failure = await attempt(call);
      if (failure === null) return;
      const about = { requestId: call.requestId, hook: call.label, tries, err: failure.error };
      const isLast = failure.isFinal || tries >= limits.hookTriesMax;
      if (!isLast && !stop.signal.aborted) {
        log.warn(about, "A hook failed; it is tried again");
        await pause(limits.hookRetryFirstMs * 2 ** (tries - 1), stop.signal);
      }
      if (isLast || stop.signal.aborted) {
        log.error(about, "A hook failed and is given up");
        return;
      }
    }
  }

  /** Null when the call succeeded. */
  async function attempt({ request }: HookCall): Promise<Failure | null> {
    try {
      const { status } = await outbound.send(request, stop.signal);
      if (status >= 200 && status <= 299) return null;
      return { error: new Error(`The hook answered ${status}`), isFinal: !isPassing(status) };
    } catch (error) {
      return { error, isFinal: false };
    }
  }

  return {
    add(call) {
      if (stop.signal.aborted || waiting.length >= limits.hookCallsWaitingMax) {
        const { requestId, label: hook } = call;
        log.error({ requestId, hook }, "A hook is not called: too many are waiting");
        return;
      }
      waiting.push(call);
      startNext();
    },
    async drain(untilMs) {
      const end = setTimeout(() => stop.abort(), Math.max(untilMs - performance.now(), 0));
      while (running.size > 0 && !stop.signal.aborted) await Promise.race([...running, stopped]);
      clearTimeout(end);
      stop.abort();
      if (waiting.length > 0)
        log.error({ hooks: waiting.length }, "Hooks are lost: the service ends");
      await Promise.all(running);
    },
  };
}

/** Whether the same call may succeed later: anything else that the service answers is its last word. */
const isPassing = (status: number): boolean =>
  status >= 500 || status === 408 || status === 425 || status === 429;

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
