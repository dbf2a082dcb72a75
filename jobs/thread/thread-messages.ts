/** The messages between a process and its job thread; all of them can be cloned. */
import type { SentError } from "../../core/values/sent-error.ts";
import type { Json } from "../../core/values/json.ts";
import type { Job } from "../../core/jobs/job.ts";

/** What the thread is started with. */
export interface ThreadStart {
  /** The configuration files, by path. */
  readonly files: ReadonlyMap<string, string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logLevel: string;
  readonly logFormat: "json" | "pretty";
  /** The number of its process among several under one parent; absent or null: there is one. */
  readonly process?: number | null;
}

/** A message to the thread. */
export type ToThread =
  | { readonly type: "run"; readonly job: Job; readonly id: string }
  /** The run of that id should end. */
  | { readonly type: "end"; readonly id: string; readonly reason: unknown }
  | Called
  | { readonly type: "close" };

/** A message of the thread. */
export type FromThread =
  | {
      readonly type: "progress";
      readonly id: string;
      readonly processed: number;
      readonly total: number;
    }
  | { readonly type: "done"; readonly id: string; readonly result: Json }
  | { readonly type: "failed"; readonly id: string; readonly error: SentError }
  | Called;

/** A call of the thread to its process, or the answer to one. */
interface Called {
  readonly type: "call";
  readonly message: unknown;
}
