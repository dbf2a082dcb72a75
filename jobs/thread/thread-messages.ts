/** The messages between a process and its job thread; all of them can be cloned. */
import type { ErrorFields } from "../../core/values/error-fields.ts";
import type { ErrorKind } from "../../core/values/errors.ts";
import type { Json } from "../../core/values/json.ts";
import type { Job } from "../../core/jobs/job.ts";

/** What the thread is started with. */
export interface ThreadStart {
  /** The configuration files, by path. */
  readonly files: ReadonlyMap<string, string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logLevel: string;
  readonly logFormat: "json" | "pretty";
}

/** A message to the thread. */
export type ToThread =
  | { readonly type: "run"; readonly job: Job; readonly id: string }
  /** The run of that id should end. */
  | { readonly type: "end"; readonly id: string; readonly reason: unknown }
  /** The answer to `raise`. */
  | { readonly type: "raised"; readonly call: number; readonly ok: boolean }
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
  | { readonly type: "failed"; readonly id: string; readonly error: ThreadError }
  /** Tells the process about a write, for its cache. */
  | { readonly type: "raise"; readonly call: number; readonly names: readonly string[] };

/** An error as it is sent; `kind` null: not an AppError. */
export interface ThreadError {
  readonly kind: ErrorKind | null;
  readonly message: string;
  /** For the log; null: the message is enough. */
  readonly cause: ErrorFields | null;
}
