/**
 * The request or job that a piece of work belongs to. Node's `AsyncLocalStorage` passes it along, so that statements,
 * cache look-ups and hook calls need no parameter for it. Used only if the service is observed.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { ArrivedRequest } from "../../core/plans/observer.ts";
import type { Job } from "../../core/jobs/job.ts";

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

export const withinTask = <T>(task: Task, work: () => T): T => storage.run(task, work);

/** Undefined for work of the service itself, such as compiling the configuration. */
export const currentTask = (): Task | undefined => storage.getStore();

/** The fields of log lines that name the task. */
export const taskFields = (task: Task | undefined): object =>
  task === undefined ? {} : task.kind === "request" ? { requestId: task.id } : { job: task.id };
