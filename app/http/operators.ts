/**
 * Who counts as an operator of the service: the machine itself, and a holder of METRICS_TOKEN. Only
 * operators see the names and states of projects, and metrics.
 */
import { timingSafeEqual } from "hono/utils/buffer";
import { isOwnName } from "../../core/values/addresses.ts";
import { AppError, unauthorized } from "../../core/values/errors.ts";
import { socketAddressOf } from "./client-address.ts";
import { isLoopback } from "./guard.ts";
import type { Incoming } from "./incoming.ts";

export interface OperatorSettings {
  readonly metricsToken: string | null;
  /** How many proxies there are before the service. With proxies, the connection comes from a proxy. */
  readonly trustProxy: number;
}

/** Headers that show that a request came through a proxy. */
const forwarding = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"];

/**
 * A request with a token is judged by the token only. Without one, it must come from this machine, not through a proxy,
 * and under a host name that means only this machine: a web page could point its own name to the loopback address.
 */
export async function isOperatorRequest(
  incoming: Incoming,
  { metricsToken, trustProxy }: OperatorSettings,
): Promise<boolean> {
  const { headers, url } = incoming;
  const [, token] = /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "") ?? [];
  if (token !== undefined && metricsToken !== null) return timingSafeEqual(token, metricsToken);
  const address = socketAddressOf(incoming);
  if (address === null || trustProxy > 0 || !isLoopback(address)) return false;
  return isOwnName(new URL(url).hostname) && forwarding.every((name) => headers.get(name) === null);
}

/** The answer to callers that are not operators. */
export const metricsRefusal = ({ metricsToken }: OperatorSettings): AppError =>
  metricsToken === null
    ? new AppError(
        "forbidden",
        "Metrics are only shown to programs on this machine; for others, set METRICS_TOKEN and send it as Authorization: Bearer",
      )
    : unauthorized("Send the token of METRICS_TOKEN as Authorization: Bearer");
