/**
 * The address of the client at the other end of the connection. The entry of each runtime passes it to Hono together
 * with the request. Behind a proxy it is the proxy's address.
 */
import type { Context } from "hono";
import ipaddr from "ipaddr.js";

interface ClientEnv {
  readonly address?: string | null;
}

/** The second argument of `app.fetch`. `address` null: unknown. */
export const clientAt = (address: string | null): ClientEnv => ({ address });

/** A text that identifies a client: its IPv4 address, or the first 64 bits of its IPv6 address. Null: unknown. */
export function addressOf({ env }: Context): string | null {
  const address = (env as ClientEnv | undefined)?.address;
  if (typeof address !== "string" || !ipaddr.isValid(address)) return null;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === "ipv4") return parsed.toString();
  return `${parsed.toNormalizedString().split(":").slice(0, 4).join(":")}::/64`;
}
