/**
 * Runs the operator's handlers around a write, inside its transaction: before handlers may replace the data, every
 * handler may refuse, and a refusal undoes all of it. When the database aborts a transaction, it runs again together
 * with its handlers. The writing actions and the commit of an import call `runBefore` and `runAfter`;
 * `core/config/components-plan.ts` binds the handlers.
 */
import type { Call } from "../calls/action.ts";
import { AppError, type ErrorKind } from "../values/errors.ts";
import { type EventName, type HookContext, HookError, type NamedHandler } from "../plans/hook.ts";
import { ExactNumber, isObject } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import { nativeOf } from "../query/native.ts";
import { userOf } from "../plans/caller.ts";
import { past } from "../callers/scoped-session.ts";
import type { Queries } from "../callers/session.ts";
import type { Log, Row } from "../plans/ports.ts";
import type { Native } from "../query/statement.ts";

/** Of a request, or of a row that an import stores, what handlers are told. */
export type Handled = Pick<Call, "caller" | "entity" | "options" | "log" | "deadlineAtMs">;

/** What an action says of a before event. */
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
 * The data as the handlers leave it: a copy of its own, plain JSON values (and `ExactNumber`s). Without handlers, the
 * data itself. Rejects with 422 when a handler refuses, with 503 when the database is unreachable, and with 500 when it
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
  { caller, entity, options, log }: Handled,
  tx: Queries,
  { event, data, oldRecord, record }: Required<After>,
): HookContext {
  return {
    event,
    project: entity.project,
    endpoint: entity.name,
    data: plainObject(data),
    oldRecord: oldRecord && copyOf(oldRecord),
    record: record && copyOf(record),
    options: plainObject(options),
    user: userOf(caller),
    query: (text, params = []) => queried(tx, nativeOf(text, params), log),
    log,
    reject(message, errors) {
      throw new HookError(message, errors);
    },
  };
}

/** A handler that does not wait for the rows must not end the process: what the database refuses fails the transaction anyway. */
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
  // The transaction ends then, whatever the handler still does; only its name would not be known.
  const watch = setTimeout(
    () => log.warn({ handler: name }, "A component handler exceeded the time limit of its request"),
    deadlineAtMs - performance.now(),
  );
  try {
    return await run();
  } catch (error) {
    if (error instanceof HookError) {
      const { message, errors } = error;
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

/** A deep copy of JSON values, `ExactNumber`s among them. */
function copyOf<Value>(value: Value): Value;
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isObject(value) || value instanceof ExactNumber) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copyOf(member)]));
}

/** A deep copy that holds nothing but what JSON has. Throws for what cannot be written as such. */
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

/** As of a request's own texts: no database keeps a NUL. */
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
