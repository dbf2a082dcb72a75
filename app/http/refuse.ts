/** The answer to a request that no route of the app sees, because the server below it could not make one of what it got. */
import type { AppError } from "../../core/values/errors.ts";
import { failureResponse } from "./envelope.ts";
import { type ExchangeDeps, openExchange } from "./exchange.ts";

export type Refuse = (error: AppError) => Response;

/** Logs the refusal as one line, and answers it with the envelope. What follows on the connection is as doubtful: it closes. */
export function createRefuse(deps: Omit<ExchangeDeps, "checkHost">): Refuse {
  return (error) => {
    const exchange = openExchange(deps, undefined);
    const response = failureResponse(exchange, error, deps.now());
    response.headers.set("Connection", "close");
    exchange.log.info({ status: response.status, reason: error.message }, "request");
    return response;
  };
}
