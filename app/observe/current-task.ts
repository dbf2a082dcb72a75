/**
 * Which request or job a piece of work belongs to. Node's `AsyncLocalStorage` carries it along, so that statements,
 * questions to the cache and calls of hooks need no parameter for it. Only a service that is observed enters it.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { ArrivedRequest } from "../../core/plans/observer.ts";
import type { Job } from "../../core/plans/ports.ts";

/** A request that is being answered. */
export interface RequestTask extends ArrivedRequest {
  readonly kind: "request";
  /** Its X-Request-Id. */
  readonly id: string;
  /** On the clock of `performance.now()`, like all times here. */
  readonly startedMs: number;
}

/** A job that is being run. */
export interface JobTask {
  readonly kind: "job";
  /** Of the job. */
  readonly id: string;
  readonly startedMs: number;
  readonly job: Job;
}

export type Task = RequestTask | JobTask;

const storage = new AsyncLocalStorage<Task>();

/** Runs the work as a part of the task. */
export const withinTask = <T>(task: Task, work: () => T): T => storage.run(task, work);

/** Undefined for work of the service itself, such as compiling the configuration. */
export const currentTask = (): Task | undefined => storage.getStore();
