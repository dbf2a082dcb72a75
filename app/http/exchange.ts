/**
 * What every request has, from its arrival to its answer: an id, a log that carries it, and one place for errors. A function
 * around handlers and not a middleware: Hono runs a lone handler without composing a chain, which is a tenth of a request.
 */
import type { Context } from "hono";
import type { Log } from "../../core/plans/ports.ts";
import type { Clock, NewId } from "../../core/values/clock.ts";
import { failureResponse } from "./envelope.ts";
import type { CheckHost } from "./guard.ts";

export interface ExchangeDeps {
  readonly now: Clock;
  readonly newId: NewId;
  readonly log: Log;
  /** Null: requests to every name are answered. */
  readonly checkHost: CheckHost | null;
}

export interface Exchange {
  /** Goes out as X-Request-Id. */
  readonly requestId: string;
  /** Writes lines that carry the request's id. */
  readonly log: Log;
  /** Of the answer, whatever it will be. */
  answerHeaders: Readonly<Record<string, string>>;
}

export type Handle = (c: Context, exchange: Exchange) => Response | Promise<Response>;

/** The handler for Hono: answers also what `handle` throws, and logs how the request ended. */
export function inExchange({ now, newId, log, checkHost }: ExchangeDeps, handle: Handle) {
  return async (c: Context): Promise<Response> => {
    const startedMs = performance.now();
    const exchange = openExchange({ newId, log }, c.req.header("X-Request-Id"));
    let response: Response;
    try {
      checkHost?.(c.req.raw);
      response = await handle(c, exchange);
    } catch (error) {
      response = failureResponse(exchange, error, now());
    }
    const durationMs = Math.round((performance.now() - startedMs) * 10) / 10;
    const { method, path } = c.req;
    exchange.log.info({ method, path, status: response.status, durationMs }, "request");
    return response;
  };
}

/** `sentId`: the X-Request-Id of the request. */
export function openExchange(
  { newId, log }: Pick<ExchangeDeps, "newId" | "log">,
  sentId: string | undefined,
): Exchange {
  const requestId = idFrom(sentId) ?? newId();
  return { requestId, log: new RequestLog(log, requestId), answerHeaders: {} };
}

/** A caller's own id is kept when it is short and plain, so that it cannot forge lines of the log. */
function idFrom(header: string | undefined): string | null {
  return header !== undefined && /^[\w.-]{1,64}$/.test(header) ? header : null;
}

/** Puts the request's id into its lines. pino's own child logger would be made for each request, whether it writes or not. */
class RequestLog implements Log {
  private readonly log: Log;
  private readonly requestId: string;

  constructor(log: Log, requestId: string) {
    this.log = log;
    this.requestId = requestId;
  }

  debug(fields: object, message: string): void {
    this.log.debug({ requestId: this.requestId, ...fields }, message);
  }
  info(fields: object, message: string): void {
    this.log.info({ requestId: this.requestId, ...fields }, message);
  }
  warn(fields: object, message: string): void {
    this.log.warn({ requestId: this.requestId, ...fields }, message);
  }
  error(fields: object, message: string): void {
    this.log.error({ requestId: this.requestId, ...fields }, message);
  }
}
