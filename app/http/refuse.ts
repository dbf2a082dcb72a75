/** The answer to a request that never reaches the app, because the HTTP server could not parse it. */
import type { AppError } from "../../core/values/errors.ts";
import { failureReply } from "./envelope.ts";
import { type ExchangeDeps, openExchange } from "./exchange.ts";
import { toResponse, extended } from "./reply.ts";

export type Refuse = (error: AppError) => Response;

/**
 * Logs the refusal and answers with the envelope. The connection is closed, because what follows on it cannot be
 * trusted.
 */
export function createRefuse(deps: Pick<ExchangeDeps, "now" | "newId" | "log">): Refuse {
  return (error) => {
    const exchange = openExchange(deps, null);
    const reply = failureReply(exchange, error, deps.now());
    exchange.log.info({ status: reply.status, reason: error.message }, "request");
    return toResponse(extended(reply, { Connection: "close" }));
  };
}
