/** Starts threads of this process, with limits on their memory. */
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

/** A thread that answers each message with one message, for one user at a time. */
export interface LentThread {
  /**
   * Resolves with the answer. Questions are asked one after the other. Rejects with the error that ends the thread, and
   * when it has ended or was given back.
   */
  ask<T>(question: unknown): Promise<T>;
  /** The next user gets it. */
  giveBack(): void;
  /** Ends it, even while it works, unless it was given back. */
  end(): void;
}

/**
 * Lends threads that run `program`. Starting one takes longer than most answers, and its code is slow at first, so it
 * stays for the next user, until nobody has asked for `limits.jobThreadIdleMs`.
 */
export function createLentThreads(
  program: URL,
  options: Omit<ThreadOptions, "data">,
): () => LentThread {
  /** Those without a user, and when they end. */
  const free = new Map<Worker, NodeJS.Timeout>();
  const ended = new WeakSet<Worker>();

  function forget(thread: Worker): void {
    clearTimeout(free.get(thread));
    free.delete(thread);
  }

  function start(): Worker {
    const thread = startThread(program, { ...options, data: null });
    // Deno does not always emit `exit` after an error.
    for (const event of ["error", "exit"])
      thread.on(event, () => {
        forget(thread);
        ended.add(thread);
      });
    return thread;
  }

  function keep(thread: Worker): void {
    if (ended.has(thread)) return;
    const end = (): void => {
      forget(thread);
      void thread.terminate();
    };
    thread.unref();
    free.set(thread, setTimeout(end, limits.jobThreadIdleMs).unref());
  }

  return () => {
    const [thread = start()] = free.keys();
    let isLent = true;
    const stopLending = (then: () => void): void => {
      if (isLent) then();
      isLent = false;
    };
    forget(thread);
    thread.ref();
    return {
      async ask<T>(question: unknown): Promise<T> {
        if (!isLent || ended.has(thread)) throw stopped();
        const answer = nextMessage<T>(thread);
        thread.postMessage(question);
        return answer;
      },
      giveBack: () => stopLending(() => keep(thread)),
      end: () => stopLending(() => void thread.terminate()),
    };
  };
}

export interface AskOptions<T> {
  /** Settles as the answer does, or rejects when that takes too long. */
  within(answer: Promise<T>): Promise<T>;
  /** The error where the thread runs out of memory. */
  readonly tooLarge: Error;
}

/** Sends a question to a thread without a user, and resolves with its answer. */
export type AskThread = <T>(question: unknown, options: AskOptions<T>) => Promise<T>;

/** Threads for what clients wait for. One that failed, or took too long, ends. */
export function createAnsweringThreads(program: URL): AskThread {
  const lend = createLentThreads(program, { heapMb: limits.uploadThreadHeapMb, hasTimeout: true });
  return async <T>(question: unknown, { within, tooLarge }: AskOptions<T>) => {
    const thread = lend();
    try {
      const given = await within(thread.ask<T>(question));
      thread.giveBack();
      return given;
    } catch (error) {
      thread.end();
      throw isOutOfMemory(error) ? tooLarge : error;
    }
  };
}

/** Rejects with the error that ends the thread. */
function nextMessage<T>(thread: Worker): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const exited = (): void => reject(stopped());
  thread.on("message", resolve).on("error", reject).on("exit", exited);
  return promise.finally(() => {
    thread.off("message", resolve).off("error", reject).off("exit", exited);
  });
}

const stopped = (): Error => new Error("The thread has stopped");

const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";

/** In the npm package, sources are JavaScript. */
const built = (program: URL): URL =>
  import.meta.url.endsWith(".js") ? new URL(program.href.replace(/\.ts$/, ".js")) : program;
