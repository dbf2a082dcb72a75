/**
 * The context of an operator's handler, and how a handler refuses a request. Files under `components/` of a
 * configuration import these types and nothing else.
 */
import type { User } from "./caller.ts";
import type { FieldErrors } from "../values/errors.ts";
import { isObject } from "../values/json.ts";
import type { NativeParams } from "../query/native.ts";
import type { Log } from "./log-port.ts";
import type { Row } from "../values/row.ts";

/** Every event, in the order of the actions. */
export const eventNames = [
  "onBeforeInsert",
  "onAfterInsert",
  "onBeforeUpdate",
  "onAfterUpdate",
  "onBeforeDelete",
  "onAfterDelete",
  "onBeforeRestore",
  "onAfterRestore",
  "onBeforeAdjust",
  "onAfterAdjust",
  "onBeforeWorkflow",
  "onAfterWorkflow",
] as const;

export type EventName = (typeof eventNames)[number];

/** What a handler gets, as its only argument. */
export interface HookContext {
  readonly event: EventName;
  readonly project: string;
  readonly endpoint: string;
  /**
   * The request's data: for delete `{where}`, for adjust the body with its adjustments. A before handler may change it
   * in place or return another object. After handlers get that result, before rules changed it; `record` is what was
   * stored. A number that a double cannot hold is an object whose text (`String(value)`) has all its digits.
   */
  readonly data: Record<string, unknown>;
  /** The record before the change, with the columns that answers show; null in the events of an insert. */
  readonly oldRecord: Row | null;
  /** The record after the change, as it is answered; null in before handlers and after a delete. */
  readonly record: Row | null;
  /** Whether all that the request writes is undone in the end; effects outside the database should then be left out. */
  readonly dryRun: boolean;
  /** The client's `options`. */
  readonly options: Record<string, unknown>;
  /** Who made the request; null if the project requires no credentials. */
  readonly user: User | null;
  /**
   * Runs one SQL statement in the same transaction, and gives its rows. Values go in as parameters: `?` or `$1` with an
   * array, `:name` with an object. Rejects once the transaction has ended.
   */
  query(text: string, params?: NativeParams): Promise<Row[]>;
  /** Writes lines that carry the request's id, or the job and row of an import. */
  readonly log: Log;
  /** Refuses the request (422) or the row of an import. Throws a HookError, so that all its changes are rolled back. */
  reject(message: string, errors?: Record<string, string | string[]>): never;
}

/** A refusal by a handler, as `reject` throws it. `message` and `errors` go to the client. */
export class HookError extends Error {
  override readonly name = "HookError";
  readonly errors: FieldErrors | undefined;

  constructor(message: string, errors?: Record<string, string | string[]>) {
    super(message);
    this.errors = errors === undefined ? undefined : fieldErrors(errors);
  }
}

/**
 * The refusal that a handler threw; null for any other error. The name decides, because a component may throw the class
 * of another copy of the package.
 */
export function refusalIn(error: unknown): HookError | null {
  if (error instanceof HookError) return error;
  if (!isObject(error) || error["name"] !== "HookError") return null;
  const { message, errors } = error;
  if (typeof message !== "string") return null;
  try {
    return new HookError(message, (errors ?? undefined) as Record<string, string | string[]>);
  } catch {
    return null;
  }
}

/** A handler as a file of the configuration exports it. What an after handler returns has no effect. */
export type HookHandler = (context: HookContext) => unknown;

/** A handler and its name in the configuration: `components/supplier.ts#normaliseCode`. */
export interface NamedHandler {
  readonly name: string;
  readonly run: HookHandler;
}

/** The handlers of an entity in their order; an event without any is absent. */
export type Handlers = ReadonlyMap<EventName, readonly NamedHandler[]>;

function fieldErrors(errors: Record<string, string | string[]>): FieldErrors {
  if (!isObject(errors)) throw new TypeError("errors must be an object from field to messages");
  return Object.fromEntries(
    Object.entries(errors).map(([field, messages]) => {
      const list: unknown[] = Array.isArray(messages) ? messages : [messages];
      if (!list.every((message) => typeof message === "string"))
        throw new TypeError(`The errors of ${field} must be strings`);
      return [field, list];
    }),
  );
}
