/** Starts threads of this process, with limits on their memory. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { limits } from "../../core/values/limits.ts";

/** The input of a thread, and its memory limits. */
export interface ThreadOptions {
  /** Copied into the thread, which finds it as `workerData`. */
  readonly data: unknown;
  /** Memory of the heap, in megabytes. */
  readonly heapMb: number;
  /** Memory for short-lived objects, in megabytes. Default: that of the runtime. */
  readonly youngMb?: number;
  /** True: the caller ends the thread after a time, so a thread that died silently is not waited for forever. */
  readonly hasTimeout?: boolean;
}

/** `program`: the file whose code the thread runs. A thread that exceeds its memory limit ends. */
export function startThread(
  program: URL,
  { data, heapMb, youngMb, hasTimeout = false }: ThreadOptions,
): Worker {
  // Deno ends such a thread without an event (denoland/deno#26156), so its work would never end. Bun has no limits.
  const isBounded = hasTimeout || !("Deno" in globalThis);
  return new Worker(built(program), {
    workerData: data,
    ...(isBounded && {
      resourceLimits: {
        maxOldGenerationSizeMb: heapMb,
        ...(youngMb !== undefined && { maxYoungGenerationSizeMb: youngMb }),
      },
    }),
  });
}

export interface AskOptions<T> {
  /** Settles as the answer does, or rejects when that takes too long. */
  within(answer: Promise<T>): Promise<T>;
  /** The error where the thread runs out of memory. */
  readonly tooLarge: Error;
}

/** Sends a question to a thread without work, and resolves with its answer. */
export type AskThread = <T>(question: unknown, options: AskOptions<T>) => Promise<T>;

/**
 * Threads for what clients wait for. Starting one takes longer than most answers, so it stays for the next question,
 * until nobody has asked for `limits.jobThreadIdleMs`. One that failed, or took too long, ends. `program` answers each
 * message with one message.
 */
export function createAnsweringThreads(program: URL): AskThread {
  /** Those without work, and when they end. */
  const free = new Map<Worker, NodeJS.Timeout>();

  function forget(thread: Worker): void {
    clearTimeout(free.get(thread));
    free.delete(thread);
  }

  function start(): Worker {
    const options = { data: null, heapMb: limits.uploadThreadHeapMb, hasTimeout: true };
    const thread = startThread(program, options);
    // Deno does not always emit `exit` after an error.
    for (const event of ["error", "exit"]) thread.on(event, () => forget(thread));
    return thread;
  }

  function keep(thread: Worker): void {
    const end = (): void => {
      forget(thread);
      void thread.terminate();
    };
    thread.unref();
    free.set(thread, setTimeout(end, limits.jobThreadIdleMs).unref());
  }

  return async <T>(question: unknown, { within, tooLarge }: AskOptions<T>) => {
    const [thread = start()] = free.keys();
    forget(thread);
    thread.ref();
    try {
      const answer = within(nextMessage<T>(thread));
      thread.postMessage(question);
      const given = await answer;
      keep(thread);
      return given;
    } catch (error) {
      void thread.terminate();
      throw isOutOfMemory(error) ? tooLarge : error;
    }
  };
}

/** Rejects with the error that ends the thread. */
async function nextMessage<T>(thread: Worker): Promise<T> {
  const listening = new AbortController();
  const { signal } = listening;
  const exited = once(thread, "exit", { signal }).then(() => {
    throw new Error("The thread has stopped");
  });
  try {
    const [message] = (await Promise.race([once(thread, "message", { signal }), exited])) as [T];
    return message;
  } finally {
    listening.abort();
  }
}

const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";

/** In the npm package, sources are JavaScript. */
const built = (program: URL): URL =>
  import.meta.url.endsWith(".js") ? new URL(program.href.replace(/\.ts$/, ".js")) : program;
