/** What a process shares with the others under its parent, and how it asks for it. */
import type { Queue } from "../../../core/jobs/queue.ts";
import type { OpenStreams } from "../../../core/plans/open-streams.ts";
import type { HookQueue } from "../../../core/workflow/hook-queue.ts";
import type { ConfigState } from "../../http/health.ts";
import { openParentStores, parentStreams } from "../../stores/parent-stores.ts";
import { calling, type ProcessCalls } from "../../stores/process-calls.ts";
import type { Stores } from "../../stores/stores.ts";

export interface Siblings {
  /** From 1. The first has the queues that are in files, and tells the numbers of all queues. */
  readonly number: number;
  /** The name that all of them write where others read it. */
  readonly name: string;
  /** Used without Redis. */
  stores(): Stores;
  readonly streams: (project: string) => OpenStreams;
  /** The queues of the first process, as the others use them. */
  readonly jobs: JobFunctions;
  readonly hooks: HookFunctions;
  /** Lets the others use the queues of this process, the first. */
  share(queues: { readonly jobs?: JobFunctions; readonly hooks?: HookFunctions }): void;
  /** The metrics of all processes. */
  metricsText(): Promise<string>;
  /** As the parent tells it. */
  configState(): ConfigState;
}

type JobFunctions = Omit<Queue, "close">;
type HookFunctions = Pick<HookQueue, "add" | "counts">;

/** What the first process offers of its queues, by the names of objects. */
export const queueFunctions = {
  jobs: ["add", "find", "cancel", "counts"],
  hooks: ["add", "counts"],
} as const;

/** What the parent tells a process about itself. */
export interface SiblingStart {
  readonly number: number;
  readonly name: string;
  readonly state: ConfigState;
}

export function openSiblings(
  calls: ProcessCalls,
  { state: first, ...start }: SiblingStart,
): Siblings {
  let state = first;
  calls.offer({ configuration: { told: (now: ConfigState) => void (state = now) } });
  return {
    ...start,
    stores: () => openParentStores(calls),
    streams: parentStreams(calls),
    jobs: calling<JobFunctions>(calls, { object: "jobs" }, queueFunctions.jobs),
    hooks: calling<HookFunctions>(calls, { object: "hooks" }, queueFunctions.hooks),
    share: (queues) => calls.offer({ ...queues }),
    metricsText: () => calls.call<string>("metrics", "text"),
    configState: () => state,
  };
}
