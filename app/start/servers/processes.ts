/**
 * `serve --processes`: several processes that serve on one port, and their parent. The parent accepts connections and
 * hands them to the processes in turn (`node:cluster`), replaces those that end, gives all of them the same
 * configuration, and keeps what they share without Redis (`parent-stores.ts`). It answers no request itself.
 */
import type { Serializable } from "node:child_process";
import cluster, { type Worker } from "node:cluster";
import { limits } from "../../../core/values/limits.ts";
import { unavailable } from "../../../core/values/errors.ts";
import { withTimeout } from "../../../core/values/with-timeout.ts";
import { mergedMetrics } from "../../metrics/merged-metrics.ts";
import { createProcessMetrics } from "../../metrics/process-metrics.ts";
import { createCounter } from "../../metrics/series.ts";
import { createParentState } from "../../stores/parent-stores.ts";
import { createProcessCalls, type Offers, type ProcessCalls } from "../../stores/process-calls.ts";
import { openLog } from "../observing/log.ts";
import { nameOfProcess } from "../opening/shared-places.ts";
import { queueFunctions } from "../opening/siblings.ts";
import type { FolderSource } from "../reloading/config-folder.ts";
import { createReloads } from "../reloading/reloads.ts";
import type { Reload } from "../reloading/reload-triggers.ts";
import { parseEnv } from "../settings/env.ts";
import { followConnections } from "./parent-connections.ts";
import type { Listens, ParentGreeting, SentSource } from "./under-parent.ts";

export interface ProcessesOptions {
  readonly source: FolderSource;
  /** Processes that serve. */
  readonly count: number;
  /** The arguments of the command line with which each process is started. */
  readonly args: readonly string[];
}

export interface Processes {
  readonly first: Listens;
  /** Resolves when all of them listen or have failed to. False: they were stopped meanwhile. */
  readonly all: Promise<boolean>;
  readonly reload: Reload;
  /** Lets all of them finish their requests; resolves when they have ended. */
  stop(): Promise<void>;
  /** Rejects when none can serve the configuration; the process that found out has written why. */
  readonly failed: Promise<never>;
}

/** The place of one process, which others take after it. */
interface Slot {
  /** From 1. */
  readonly number: number;
  worker: Worker | null;
  calls: ProcessCalls;
  /** What its process was told to serve last. */
  source: FolderSource;
  listens: Listens | null;
  listensSinceMs: number;
  /** How often in a row its processes ended soon after their start. */
  failures: number;
  /** Settles when its process listens or has ended. */
  begun: PromiseWithResolvers<void>;
  /** Until its next process is started. */
  pause: ReturnType<typeof setTimeout> | undefined;
  /** Called when its process has ended for good. */
  gone: (() => void) | null;
}

/** A process that listened for less did not start well. */
const steadyMs = 5_000;
/** The pauses before a process is started again: none after the first end, then from this one on, doubling. */
const pauseMs = { first: 500, longest: 30_000 };
/** How long metrics wait for a process that does not answer. */
const metricsTimeoutMs = 2_000;
/** How long requests wait for the first process while it is being replaced. */
const firstAwayMs = 8_000;
/** A stopping process that takes longer than all its own limits is killed. */
const killAfterMs = limits.drainTimeoutMs + 1_500;

/**
 * Resolves when the first one listens, while the others start. Rejects with an Error when it cannot start; it has written
 * why. One piece, because its functions share the places of the processes and what is served.
 */
export async function openProcesses({ source, count, args }: ProcessesOptions): Promise<Processes> {
  const log = await openLog(parseEnv(source.env), 0);
  const state = createParentState();
  const processMetrics = createProcessMetrics();
  const replacements = createCounter({
    name: "rowgate_process_replacements_total",
    help: "Processes that ended and were replaced.",
    labels: [],
  });
  replacements.add([], 0);
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  let serving = source;
  let isReloading = false;
  let isStopping = false;
  /** A process has compiled its configuration: processes that end from now on are replaced. */
  let isProven = false;

  const slots = Array.from({ length: count }, (_, at) => newSlot(at + 1, source));
  const [first] = slots as [Slot, ...Slot[]];
  const reloads = createReloads({ files: source.files, log, serve: serveEverywhere });
  const connections = followConnections();
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({ args: [...args], serialization: "advanced" });

  function start(slot: Slot): void {
    const worker = cluster.fork();
    slot.worker = worker;
    slot.source = serving;
    slot.calls = createProcessCalls(
      (message) => void worker.send(message as Serializable, () => undefined),
    );
    slot.calls.offer(offersTo(slot));
    // What a process has sent may arrive after its end, when others have its place.
    worker.on("message", (message) => {
      if (slot.worker === worker) slot.calls.hear(message);
    });
    connections.follow(worker);
    worker.on("error", (error) => log.error({ err: error }, "A process cannot be reached"));
    worker.once("exit", (code, signal) =>
      hasEnded(slot, { code, signal, pid: worker.process.pid }),
    );
  }

  function offersTo(slot: Slot): Offers {
    const others = () =>
      slots.filter((one) => one !== slot && one.listens !== null).map(({ calls }) => calls);
    return {
      ...state.offersTo(slot, others),
      parent: {
        greet: (): ParentGreeting => ({
          number: slot.number,
          name: nameOfProcess(process.pid),
          state: reloads.state(),
          source: sent(slot.source),
        }),
        listens(listens: Listens) {
          slot.listens = listens;
          slot.listensSinceMs = performance.now();
          slot.begun.resolve();
          // A reload may have ended since it was greeted.
          tellState(slot);
          const { number, worker } = slot;
          log.info({ number, pid: worker?.process.pid }, "A process listens");
          void catchUp(slot);
        },
        ready: () => void (isProven = true),
      },
      metrics: { text: metricsText },
      jobs: ofFirst("jobs"),
      hooks: ofFirst("hooks"),
    };
  }

  function hasEnded(
    slot: Slot,
    end: { code: number; signal: string; pid: number | undefined },
  ): void {
    const { begun, calls, listens, listensSinceMs } = slot;
    const isSteady = listens !== null && performance.now() - listensSinceMs >= steadyMs;
    Object.assign(slot, { worker: null, listens: null, begun: Promise.withResolvers<void>() });
    calls.end();
    state.left(slot);
    begun.resolve();
    if (isStopping) return slot.gone?.();
    if (!isProven && end.code === 1) return failed.reject(new Error("Rowgate could not start"));
    slot.failures = isSteady ? 0 : slot.failures + 1;
    const waitMs = pauseBefore(slot.failures);
    log.error({ number: slot.number, ...end, waitMs }, "A process has ended and is replaced");
    replacements.add([]);
    slot.pause = setTimeout(start, waitMs, slot);
  }

  /** What the first process has for all, also while it is being replaced. The functions can be called twice. */
  function ofFirst(object: keyof typeof queueFunctions): Offers[string] {
    async function ask(
      name: string,
      args: readonly unknown[],
      until: AbortSignal,
    ): Promise<unknown> {
      while (first.listens === null && !until.aborted) await first.begun.promise;
      const { calls } = first;
      return calls.call(object, name, ...args).catch((error: unknown) => {
        if (first.calls === calls && first.worker !== null) throw error;
        return ask(name, args, until);
      });
    }
    const away = (): never => {
      throw unavailable("The process that keeps the queue is being replaced; try again later");
    };
    return Object.fromEntries(
      queueFunctions[object].map((name) => [
        name,
        (...args: readonly unknown[]) => {
          const until = AbortSignal.timeout(firstAwayMs);
          const options = { timeoutMs: isStopping ? 0 : firstAwayMs, onTimeout: away };
          return withTimeout(ask(name, args, until), options);
        },
      ]),
    );
  }

  async function metricsText(): Promise<string> {
    const texts = await Promise.all(
      slots.map(async ({ number, listens, calls }) => {
        const asked = listens ? calls.call<string>("process", "metrics") : Promise.resolve("");
        const text = asked.catch(() => "");
        const options = { timeoutMs: metricsTimeoutMs, onTimeout: () => "" };
        return [String(number), await withTimeout(text, options)] as const;
      }),
    );
    const own = replacements.text() + (await processMetrics());
    return mergedMetrics(new Map([["0", own], ...texts.filter(([, text]) => text !== "")]));
  }

  const tellState = ({ calls }: Slot): void =>
    void calls.call("configuration", "told", reloads.state()).catch(() => undefined);

  async function load(slot: Slot, next: FolderSource): Promise<void> {
    const { calls, number } = slot;
    await calls.call("process", "load", sent(next)).catch((error: unknown) => {
      if (slot.calls === calls && slot.worker !== null) throw error;
      throw new Error(`Process ${number} ended while it loaded the configuration`, {
        cause: error,
      });
    });
    slot.source = next;
  }

  /** A process that started while another configuration was loaded. */
  async function catchUp(slot: Slot): Promise<void> {
    if (isReloading || slot.listens === null || slot.source === serving) return;
    // It has logged why it cannot; the next process begins with what is served.
    await load(slot, serving).catch(() => slot.worker?.process.kill("SIGTERM"));
  }

  /** One after the other; if one cannot, all serve what they served before. */
  async function serveEverywhere(next: FolderSource): Promise<void> {
    const behind = () => slots.find((slot) => slot.listens !== null && slot.source !== next);
    isReloading = true;
    try {
      for (let slot = behind(); slot; slot = behind()) await load(slot, next);
      serving = next;
    } finally {
      isReloading = false;
      await Promise.all(slots.map(catchUp));
    }
  }

  async function reload(read: () => Promise<FolderSource>): Promise<void> {
    try {
      await reloads.reload(read);
    } finally {
      for (const slot of slots) if (slot.listens !== null) tellState(slot);
    }
  }

  async function stop(): Promise<void> {
    isStopping = true;
    void reloads.close();
    const running = slots.filter((slot) => {
      clearTimeout(slot.pause);
      return slot.worker !== null;
    });
    const killing = setTimeout(() => {
      for (const { worker } of running) worker?.process.kill("SIGKILL");
    }, killAfterMs);
    const gone = running.map(
      (slot) =>
        new Promise<void>((resolve) => {
          slot.gone = resolve;
        }),
    );
    await connections.close();
    for (const { calls } of running) calls.call("process", "stop").catch(() => undefined);
    await Promise.all(gone);
    clearTimeout(killing);
  }

  start(first);
  await first.begun.promise;
  // Kept, because it may end while the others start.
  const { listens } = first;
  if (listens === null) throw new Error("Rowgate could not start");
  const begun = slots.slice(1).map((slot) => {
    start(slot);
    return slot.begun.promise;
  });
  const all = Promise.all(begun).then(() => !isStopping);
  return { first: listens, all, reload, stop, failed: failed.promise };
}

const newSlot = (number: number, source: FolderSource): Slot => ({
  number,
  source,
  worker: null,
  calls: createProcessCalls(() => undefined),
  listens: null,
  listensSinceMs: 0,
  failures: 0,
  begun: Promise.withResolvers(),
  pause: undefined,
  gone: null,
});

const sent = ({ files, env }: FolderSource): SentSource => ({ files, env });

/** `failures`: of processes that ended soon after their start, in a row. */
const pauseBefore = (failures: number): number =>
  failures < 2 ? 0 : Math.min(pauseMs.first * 2 ** (failures - 2), pauseMs.longest);
