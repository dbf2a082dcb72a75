/**
 * Who counts as an operator of the service: the machine itself, and whoever holds the token of METRICS_TOKEN. Only
 * operators see the names and states of projects, and metrics.
 */
import { timingSafeEqual } from "hono/utils/buffer";
import { AppError, unauthorized } from "../../core/values/errors.ts";
import { socketAddressOf } from "./client-address.ts";
import { isLoopback, isOwnName } from "./guard.ts";
import type { HeaderFields, Incoming } from "./incoming.ts";

export interface OperatorSettings {
  /** Null: there is no token. */
  readonly metricsToken: string | null;
  /** Proxies before the service: where there are any, the connection of a caller is theirs. */
  readonly trustProxy: number;
}

/** What tells whether a request is an operator's. */
export interface OperatorRequest {
  readonly headers: HeaderFields;
  /** The name in the URL or the Host header, without the port. */
  readonly hostname: string;
  /** The other end of the connection; null: unknown. */
  readonly address: string | null;
}

/** Headers that show that a request came through a proxy. */
const forwarding = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"];

/**
 * A request with a token is judged by the token alone. Without one, it must come from this machine, to a name that only
 * means this machine, and through no proxy: a page in a browser could give its own name the loopback address.
 */
export async function isOperator(
  { headers, hostname, address }: OperatorRequest,
  { metricsToken, trustProxy }: OperatorSettings,
): Promise<boolean> {
  const [, token] = /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "") ?? [];
  if (token !== undefined && metricsToken !== null) return timingSafeEqual(token, metricsToken);
  if (address === null || trustProxy > 0 || !isLoopback(address)) return false;
  return isOwnName(hostname) && forwarding.every((name) => headers.get(name) === null);
}

/** The same, of a request to the app. */
export const isOperatorRequest = (
  incoming: Incoming,
  settings: OperatorSettings,
): Promise<boolean> => {
  const { headers, url } = incoming;
  return isOperator(
    { headers, hostname: new URL(url).hostname, address: socketAddressOf(incoming) },
    settings,
  );
};

/** The answer to somebody else who asks for what is for operators alone. */
export const metricsRefusal = ({ metricsToken }: OperatorSettings): AppError =>
  metricsToken === null
    ? new AppError(
        "forbidden",
        "Metrics are only shown to programs on this machine; for others, set METRICS_TOKEN and send it as Authorization: Bearer",
      )
    : unauthorized("Send the token of METRICS_TOKEN as Authorization: Bearer");
