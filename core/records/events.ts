/**
 * Runs the operator's handlers around a write, inside its transaction: before handlers may replace the data, every
 * handler may refuse, and a refusal rolls everything back. If the database aborts a transaction, it runs again together
 * with its handlers.
 */
import type { Call } from "../calls/action.ts";
import { AppError, type ErrorKind } from "../values/errors.ts";
import {
  type EventName,
  type HookContext,
  HookError,
  type NamedHandler,
  refusalIn,
} from "../plans/hook.ts";
import { copyOfJson, ExactNumber, isObject } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import { nativeOf } from "../query/native.ts";
import { userOf } from "../plans/caller.ts";
import { past } from "../callers/scoped-session.ts";
import type { Queries } from "../query/session.ts";
import type { Log } from "../plans/log-port.ts";
import type { Row } from "../values/row.ts";
import type { Native } from "../query/statement.ts";

/** The parts of a request, or of an imported row, that handlers get. */
export type Handled = Pick<
  Call,
  "caller" | "entity" | "options" | "dryRun" | "log" | "deadlineAtMs"
>;

/** An action's data for a before event. */
export interface Before {
  readonly event: EventName;
  readonly data: Record<string, unknown>;
  readonly oldRecord?: Row | null;
}

export interface After extends Before {
  readonly record: Row | null;
}

/** Whether one of the events has a handler; without one, a write needs no transaction for them. */
export const hasHandlers = ({ handlers }: Handled["entity"], ...events: EventName[]): boolean =>
  handlers.size > 0 && events.some((event) => handlers.has(event));

/**
 * The data after the handlers: a separate copy of plain JSON values (and `ExactNumber`s). Without handlers, the data
 * itself. Rejects with 422 when a handler refuses, with 503 when the database is unreachable, and with 500 when it
 * fails otherwise.
 */
export async function runBefore(
  call: Handled,
  tx: Queries,
  { event, data, oldRecord = null }: Before,
): Promise<Record<string, unknown>> {
  let current = data;
  for (const handler of call.entity.handlers.get(event) ?? []) {
    const context = contextOf(call, tx, { event, data: current, oldRecord, record: null });
    current = await attempt(call, handler, async () => {
      const given = await handler.run(context);
      return plainObject(given ?? context.data);
    });
  }
  return current;
}

/** Rejects as `runBefore` does; what was written is then rolled back. */
export async function runAfter(
  call: Handled,
  tx: Queries,
  { event, data, oldRecord = null, record }: After,
): Promise<void> {
  for (const handler of call.entity.handlers.get(event) ?? []) {
    const context = contextOf(call, tx, { event, data, oldRecord, record });
    await attempt(call, handler, async () => handler.run(context));
  }
}

function contextOf(
  { caller, entity, options, dryRun, log }: Handled,
  tx: Queries,
  { event, data, oldRecord, record }: Required<After>,
): HookContext {
  return {
    event,
    project: entity.project,
    endpoint: entity.name,
    data: plainObject(data),
    oldRecord: oldRecord && copyOfJson(oldRecord),
    record: record && copyOfJson(record),
    dryRun,
    options: plainObject(options),
    user: userOf(caller),
    query: (text, params = []) => queried(tx, nativeOf(text, params), log),
    log,
    reject(message, errors) {
      throw new HookError(message, errors);
    },
  };
}

/** If a handler does not await the rows, their rejection must not end the process; the transaction fails anyway. */
function queried(tx: Queries, statement: Native, log: Log): Promise<Row[]> {
  const rows = past(tx, "handlerQuery").native(statement);
  rows.catch((error: unknown) => {
    if (!(error instanceof AppError))
      log.warn({ err: error }, "A query of a component handler was not run");
  });
  return rows;
}

/** The handler's outcome, with its failure as the error that the client gets. */
/** Errors of a handler's query that are passed on to the client. */
const passedOn: ReadonlySet<ErrorKind> = new Set(["unavailable", "rejectedByDatabase"]);

async function attempt<T>(
  { deadlineAtMs, log }: Handled,
  { name }: NamedHandler,
  run: () => Promise<T>,
): Promise<T> {
  // The transaction ends at that time in any case; the log line adds the handler's name.
  const watch = setTimeout(
    () => log.warn({ handler: name }, "A component handler exceeded the time limit of its request"),
    deadlineAtMs - performance.now(),
  );
  try {
    return await run();
  } catch (error) {
    const refusal = refusalIn(error);
    if (refusal) {
      const { message, errors } = refusal;
      throw new AppError("rejectedByHook", message || "A component handler refused the request", {
        ...(errors && { errors }),
      });
    }
    if (error instanceof AppError && passedOn.has(error.kind)) throw error;
    throw new AppError("internal", `The handler ${name} failed`, { cause: error });
  } finally {
    clearTimeout(watch);
  }
}

/** A deep copy that contains only JSON values. Throws for a value that JSON cannot express. */
function plainObject(value: unknown): Record<string, unknown> {
  if (!isObject(value) || !isPlain(value))
    throw new TypeError(`A handler must return an object or nothing, not ${kindOf(value)}`);
  return plainValue(value, 1) as Record<string, unknown>;
}

function plainValue(value: unknown, depth: number): unknown {
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "bigint") return new ExactNumber(String(value));
  if (value === null || typeof value === "boolean" || value instanceof ExactNumber) return value;
  if (typeof value === "string") return withoutNul(value);
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (depth > limits.jsonDepthMax) throw new TypeError("The data is nested too deep");
  if (Array.isArray(value))
    return value.map((item: unknown) => plainValue(item ?? null, depth + 1));
  if (!isObject(value) || !isPlain(value))
    throw new TypeError(`The data contains ${kindOf(value)}, which cannot be written as JSON`);
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) =>
      member === undefined ? [] : [[name, plainValue(member, depth + 1)]],
    ),
  );
}

/** As for texts of requests: no database stores a NUL. */
function withoutNul(text: string): string {
  if (text.includes("\0")) throw new TypeError("The data contains a string with a NUL character");
  return text;
}

/** An object literal, and not an instance of some class. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

const kindOf = (value: unknown): string =>
  Array.isArray(value)
    ? "an array"
    : typeof value === "object"
      ? "an instance of a class"
      : `a ${typeof value}`;
