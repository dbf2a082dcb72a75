/** The answer to a request that never reaches the app, because the HTTP server could not parse it. */
import type { AppError } from "../../core/values/errors.ts";
import { failureResponse } from "./envelope.ts";
import { type ExchangeDeps, openExchange } from "./exchange.ts";

export type Refuse = (error: AppError) => Response;

/**
 * Logs the refusal and answers with the envelope. The connection is closed, because what follows on it cannot be
 * trusted.
 */
export function createRefuse(deps: Pick<ExchangeDeps, "now" | "newId" | "log">): Refuse {
  return (error) => {
    const exchange = openExchange(deps, undefined);
    const response = failureResponse(exchange, error, deps.now());
    response.headers.set("Connection", "close");
    exchange.log.info({ status: response.status, reason: error.message }, "request");
    return response;
  };
}
