/**
 * The address of the client at the other end of the connection, which the entry of each runtime knows: it goes to Hono beside the request.
 * Behind a proxy it is the proxy's.
 */
import type { Context } from "hono";
import ipaddr from "ipaddr.js";

interface ClientEnv {
  readonly address?: string | null;
}

/** What an entry gives to `app.fetch` beside the request. `address` null: unknown. */
export const clientAt = (address: string | null): ClientEnv => ({ address });

/** One text for all addresses that one client has as a rule: an IPv4 address, or the first 64 bits of an IPv6 address. Null: unknown. */
export function addressOf({ env }: Context): string | null {
  const address = (env as ClientEnv | undefined)?.address;
  if (typeof address !== "string" || !ipaddr.isValid(address)) return null;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === "ipv4") return parsed.toString();
  return `${parsed.toNormalizedString().split(":").slice(0, 4).join(":")}::/64`;
}
