/** Gives every request an id, a log that contains the id, and one place for error handling. */
import type { ObserveRequest, RouteNames } from "../../core/plans/observer.ts";
import type { Log } from "../../core/plans/ports.ts";
import type { Clock, NewId } from "../../core/values/clock.ts";
import { failureReply } from "./envelope.ts";
import type { CheckHost } from "./guard.ts";
import type { Incoming } from "./incoming.ts";
import { type Reply, extended } from "./reply.ts";

export interface ExchangeDeps {
  readonly now: Clock;
  readonly newId: NewId;
  readonly log: Log;
  /** Null: requests to every name are answered. */
  readonly checkHost: CheckHost | null;
  /** Sees each request and its answer; absent: nobody does. */
  readonly observe?: ObserveRequest | undefined;
  /** Is told how each request ended; absent: nobody is. */
  readonly onAnswered?: OnAnswered | undefined;
}

export type OnAnswered = (
  place: RouteNames,
  answer: { readonly status: number; readonly durationMs: number },
) => void;

export interface Exchange {
  /** Sent as X-Request-Id. */
  readonly requestId: string;
  /** Writes log lines that contain the request's id. */
  readonly log: Log;
  /** Of the answer, whatever it will be. */
  answerHeaders: Readonly<Record<string, string>>;
  /** The log that all requests share. */
  readonly base: Log;
  /** Why the request failed for no fault of its own; null: it did not. */
  reason: string | null;
  /** What the request is about, once it is known. */
  place: RouteNames;
}

/** Of a request that is about nothing that the configuration has. */
export const nowhere: RouteNames = { project: null, endpoint: null, action: null };

export type Handle = (incoming: Incoming, exchange: Exchange) => Reply | Promise<Reply>;

/** Answers a request, whatever happens. */
export type AnswerRequest = (incoming: Incoming) => Promise<Reply>;

/** Creates a function that also answers errors which `handle` throws, and logs how each request ended. */
export function inExchange(deps: ExchangeDeps, handle: Handle): AnswerRequest {
  const { now, newId, log, checkHost, observe, onAnswered } = deps;
  async function answer(incoming: Incoming, exchange: Exchange): Promise<Reply> {
    try {
      checkHost?.(incoming);
      return await handle(incoming, exchange);
    } catch (error) {
      return failureReply(exchange, error, now());
    }
  }

  async function observed(watch: ObserveRequest, incoming: Incoming, exchange: Exchange) {
    let reply: Reply | undefined;
    const more = await watch({ request: incoming, exchange }, async () => {
      reply = await answer(incoming, exchange);
      return reply.status;
    });
    return extended(reply!, more);
  }

  return async (incoming) => {
    const startedMs = performance.now();
    const exchange = openExchange({ newId, log }, incoming.headers.get("x-request-id"));
    const reply = await (observe
      ? observed(observe, incoming, exchange)
      : answer(incoming, exchange));
    const { status } = reply;
    const exactMs = performance.now() - startedMs;
    onAnswered?.(exchange.place, { status, durationMs: exactMs });
    const durationMs = Math.round(exactMs * 10) / 10;
    const { method, path } = incoming;
    const reason = exchange.reason !== null && { reason: exchange.reason };
    exchange.log.info({ method, path, status, durationMs, ...reason }, "request");
    return reply;
  };
}

/** `sentId`: the X-Request-Id of the request. */
export function openExchange(
  { newId, log }: Pick<ExchangeDeps, "newId" | "log">,
  sentId: string | null,
): Exchange {
  const requestId = idFrom(sentId) ?? newId();
  return {
    requestId,
    log: new RequestLog(log, requestId),
    base: log,
    reason: null,
    answerHeaders: {},
    place: nowhere,
  };
}

/** The caller's id is used only if it is short and plain, so that it cannot forge log lines. */
function idFrom(header: string | null): string | null {
  return header !== null && /^[\w.-]{1,64}$/.test(header) ? header : null;
}

/**
 * Adds the request's id to log lines. A child logger of pino would be created for each request, even if nothing is
 * logged.
 */
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
