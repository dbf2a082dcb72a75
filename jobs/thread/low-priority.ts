/**
 * Jobs yield to requests: on Linux their threads get a lower priority. Elsewhere a priority applies to the whole
 * process, requests included, so nothing is done.
 */
import { readdirSync, readFileSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";

/**
 * Of the calling thread, of the threads that it starts from now on, and of the helpers of Node.js, which compile,
 * collect garbage, read files and compress for all threads of the process, for good. While a job runs, most of that is
 * for the job: with helpers of a normal priority, the slowest requests beside an export took half as long again. Without
 * a job, requests are answered as fast.
 */
export function lowerPriority(): void {
  if (process.platform === "linux") lower([0, ...threadsOfProcess().filter(isHelper)]);
}

function isHelper(thread: number): boolean {
  try {
    return /^(V8Worker|libuv-worker)/.test(readFileSync(`/proc/self/task/${thread}/comm`, "utf8"));
  } catch {
    return false;
  }
}

/**
 * For each thread of the process and those that they start, including garbage collector and compiler: otherwise the
 * slowest requests beside an export take twice as long. For a worker, which answers no requests.
 */
export function lowerPriorityOfProcess(): void {
  if (process.platform === "linux") lower(threadsOfProcess());
}

/** The longest step of a job while others need the processors, and what it leaves to them after it. */
const stepMs = 0.5;
const pauseMs = 0.3;
/** How often a thread looks whether it had to wait for a processor, and the part of that time which is much. */
const lookMs = 20;
const muchWaiting = 0.005;

/**
 * A function to be called many times within a job. On Linux, where the processors are contended, it sleeps for a moment
 * after each step: a thread that sleeps gives way at once, while one of a low priority may first finish its slice of
 * time, which is often at the next tick of the clock only, after up to 5 ms.
 */
export function createPauses(): () => void {
  const place = new Int32Array(new SharedArrayBuffer(4));
  let waitedMs = waitedOfThread();
  let [stepAtMs, lookAtMs] = [performance.now(), performance.now()];
  let isContended = false;
  return () => {
    const nowMs = performance.now();
    if (nowMs - stepAtMs < stepMs) return;
    if (nowMs - lookAtMs >= lookMs) {
      const nowWaitedMs = waitedOfThread();
      isContended = nowWaitedMs - waitedMs > (nowMs - lookAtMs) * muchWaiting;
      [waitedMs, lookAtMs] = [nowWaitedMs, nowMs];
    }
    if (isContended) Atomics.wait(place, 0, 0, pauseMs);
    stepAtMs = performance.now();
  };
}

/** How long the calling thread had to wait for a processor since it began; 0: the system does not tell. */
function waitedOfThread(): number {
  try {
    return Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}

function threadsOfProcess(): readonly number[] {
  try {
    return readdirSync("/proc/self/task").map(Number);
  } catch {
    return [0];
  }
}

/** `threads` by the numbers that Linux gives them; 0 is the calling one. */
function lower(threads: readonly number[]): void {
  for (const thread of threads) {
    try {
      // An operator can have set a lower one already.
      const priority = Math.max(getPriority(thread), constants.priority.PRIORITY_BELOW_NORMAL);
      setPriority(thread, priority);
    } catch {
      // A runtime or a sandbox that does not allow it, or a thread that has just ended: jobs run anyway.
    }
  }
}
