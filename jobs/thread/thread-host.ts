/**
 * Runs jobs in a thread, so that neither SQLite nor a million rows of XML block requests or the renewal of locks. The
 * thread has its own connections; it starts with the first job and ends after a time without jobs. After the
 * configuration was loaded again, jobs start in a new thread, and the old one ends with its last job.
 */
import type { Worker } from "node:worker_threads";
import { errorOfSent } from "../../core/values/sent-error.ts";
import { limits } from "../../core/values/limits.ts";
import type { Json } from "../../core/values/json.ts";
import type { Log } from "../../core/plans/log-port.ts";
import type { Run, RunJob } from "../../core/jobs/job.ts";
import { withTimeout } from "../../core/values/with-timeout.ts";
import { startThread } from "./start-thread.ts";
import type { FromThread, ThreadStart, ToThread } from "./thread-messages.ts";

/** The program of the thread, and what receives its messages. */
export interface ThreadHostOptions extends ThreadStart {
  /** The file whose code the thread runs. It uses the messages of `thread-messages.ts`. */
  readonly program: URL;
  readonly log: Log;
  /** Answers what a thread asks of the process; `send` takes messages to that thread. */
  connect(send: (message: unknown) => void): { hear(message: unknown): void };
}

/** The thread of a process, as the rest of the process sees it. */
export interface ThreadHost {
  readonly runJob: RunJob;
  /** Jobs that start from now on use this configuration; those that run finish with theirs. */
  renew(configuration: Pick<ThreadStart, "files" | "env">): void;
  /** Ends the thread; runs that are still under way fail. */
  close(): Promise<void>;
}

interface UnderWay {
  readonly run: Run;
  readonly thread: Worker;
  resolve(result: Json): void;
  reject(error: Error): void;
}

/** Time for the thread to close its connections. */
const closeTimeoutMs = 2_000;

/** Nothing is started before the first job. One piece, because every function follows the threads and their runs. */
export function createThreadHost({
  program,
  log,
  connect,
  ...first
}: ThreadHostOptions): ThreadHost {
  let start: ThreadStart = first;
  const underWay = new Map<string, UnderWay>();
  let thread: Worker | null = null;
  /** Threads of earlier configurations that still run jobs. */
  const old = new Set<Worker>();
  let idle: ReturnType<typeof setTimeout> | undefined;

  function threadForRun(): Worker {
    clearTimeout(idle);
    if (thread) return thread;
    const started = startThread(program, {
      // `process.env` itself can be cloned only on Node.
      data: { ...start, env: { ...start.env } },
      heapMb: limits.jobThreadHeapMb,
      youngMb: limits.jobThreadYoungMb,
    });
    thread = started;
    const calls = connect((message) => send(started, { type: "call", message }));
    started.on("message", (message: FromThread) => {
      if (message.type === "call") calls.hear(message.message);
      else receive(message);
    });
    const failRuns = (): void => {
      if (thread === started) thread = null;
      old.delete(started);
      for (const { reject } of runsIn(started)) reject(new Error("The job thread has stopped"));
    };
    started.on("error", (error) => {
      log.error({ err: error }, "The job thread failed");
      // Deno does not always emit `exit` after it.
      failRuns();
      void started.terminate();
    });
    started.on("exit", failRuns);
    return started;
  }

  const runsIn = (one: Worker): UnderWay[] =>
    [...underWay.values()].filter(({ thread: own }) => own === one);

  function receive(message: Exclude<FromThread, { type: "call" }>): void {
    const one = underWay.get(message.id);
    if (!one) return;
    if (message.type === "progress") one.run.progress(message.processed, message.total);
    else if (message.type === "done") one.resolve(message.result);
    else one.reject(errorOfSent(message.error));
  }

  async function runJob(run: Run): Promise<Json> {
    run.signal.throwIfAborted();
    const worker = threadForRun();
    const endRun = () => send(worker, { type: "end", id: run.id, reason: run.signal.reason });
    try {
      return await new Promise<Json>((resolve, reject) => {
        underWay.set(run.id, { run, thread: worker, resolve, reject });
        run.signal.addEventListener("abort", endRun);
        send(worker, { type: "run", job: run.job, id: run.id });
      });
    } finally {
      run.signal.removeEventListener("abort", endRun);
      underWay.delete(run.id);
      if (old.has(worker) && runsIn(worker).length === 0) void end(worker);
      if (underWay.size === 0) endWhenIdle();
    }
  }

  function endWhenIdle(): void {
    clearTimeout(idle);
    idle = setTimeout(() => void close(), limits.jobThreadIdleMs);
    idle.unref?.();
  }

  function renew(configuration: Pick<ThreadStart, "files" | "env">): void {
    start = { ...start, ...configuration };
    if (!thread) return;
    const replaced = thread;
    thread = null;
    old.add(replaced);
    if (runsIn(replaced).length === 0) void end(replaced);
  }

  async function close(): Promise<void> {
    clearTimeout(idle);
    const closing = [...old, ...(thread ? [thread] : [])];
    thread = null;
    await Promise.all(closing.map(end));
  }

  async function end(closing: Worker): Promise<void> {
    old.delete(closing);
    const exited = new Promise((resolve) => closing.once("exit", resolve));
    send(closing, { type: "close" });
    await withTimeout(exited, { timeoutMs: closeTimeoutMs, onTimeout: () => closing.terminate() });
  }

  return { runJob, renew, close };
}

const send = (thread: Worker, message: ToThread): void => thread.postMessage(message);
