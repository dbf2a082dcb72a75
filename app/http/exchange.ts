/** Gives every request an id, a log that contains the id, and one place for error handling. */
import type { ObserveRequest, RouteNames } from "../../core/plans/observer.ts";
import type { Log } from "../../core/plans/log-port.ts";
import type { Runtime } from "../../core/plans/runtime.ts";
import type { AppError } from "../../core/values/errors.ts";
import { failureReply } from "./envelope.ts";
import type { CheckHost } from "./guard.ts";
import type { Incoming } from "./incoming.ts";
import { extended, type Reply, type TextReply } from "./reply.ts";

export interface ExchangeDeps extends Pick<Runtime, "now" | "newId" | "log"> {
  /** Null: requests to every name are answered. */
  readonly checkHost: CheckHost | null;
  /** Sees each request and its answer, if there is one. */
  readonly observe?: ObserveRequest | undefined;
  /** Is called with the outcome of each request; absent: it is not reported. */
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
  /** Headers of the answer, whether it succeeds or not. */
  answerHeaders: Readonly<Record<string, string>>;
  /** The log that all requests share. */
  readonly base: Log;
  /** Why the request failed, if the client did not cause it; null: it did not. */
  reason: string | null;
  /** What the request is about, once it is known. */
  place: RouteNames;
  /** The pattern of a page's path; null: it is not a page. */
  readonly route: string | null;
}

/** Of a request that is about nothing that the configuration has. */
export const nowhere: RouteNames = { project: null, endpoint: null, action: null };

export type Handle = (incoming: Incoming, exchange: Exchange) => Reply | Promise<Reply>;

/** Answers a request. Never rejects. */
export type AnswerRequest = (incoming: Incoming) => Promise<Reply>;

/**
 * Creates a function that also answers errors which `handle` throws, and logs how each request ended. Answers to HEAD
 * have no body.
 */
export function inExchange(
  deps: ExchangeDeps,
  handle: Handle,
  route: string | null = null,
): AnswerRequest {
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
    const sentId = incoming.headers.get("x-request-id");
    const exchange = openExchange({ newId, log }, { sentId, route });
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
    return method === "HEAD" ? { ...reply, body: null } : reply;
  };
}

/** Answers a request that never reaches the app, because the HTTP server could not parse it. */
export type Refuse = (error: AppError) => TextReply;

/**
 * Logs the refusal and answers with the envelope. The connection is closed, because what follows on it cannot be
 * trusted.
 */
export function createRefuse(deps: Pick<Runtime, "now" | "newId" | "log">): Refuse {
  return (error) => {
    const exchange = openExchange(deps, { sentId: null, route: null });
    const reply = failureReply(exchange, error, deps.now());
    exchange.log.info({ status: reply.status, reason: error.message }, "request");
    return extended(reply, { Connection: "close" });
  };
}

/** `sentId`: the X-Request-Id of the request. */
function openExchange(
  { newId, log }: Pick<ExchangeDeps, "newId" | "log">,
  { sentId, route }: { readonly sentId: string | null; readonly route: string | null },
): Exchange {
  const requestId = idFrom(sentId) ?? newId();
  return {
    requestId,
    log: new RequestLog(log, requestId),
    base: log,
    reason: null,
    answerHeaders: {},
    place: nowhere,
    route,
  };
}

/** The caller's id is used only if it is short and plain, so that it cannot forge log lines. */
const idFrom = (header: string | null): string | null =>
  header !== null && /^[\w.-]{1,64}$/.test(header) ? header : null;

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
