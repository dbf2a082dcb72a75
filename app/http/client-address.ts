/**
 * The address of the client. The entry of each runtime knows the other end of the connection, and gives it to Hono beside the request; behind a
 * proxy that is the proxy's, and the proxy says in `X-Forwarded-For` who connected to it. Anybody can send that header, so only as many of its
 * entries are believed as there are proxies (TRUST_PROXY), from the right.
 */
import type { Context } from "hono";
import ipaddr from "ipaddr.js";

/** Beside a request. */
export interface ClientEnv {
  readonly address?: string | null;
  readonly isOwn?: boolean;
}

/** The second argument of `app.fetch`. `address` null: unknown. */
export const clientAt = (address: string | null): ClientEnv => ({ address });

/** The same, for requests that the service makes to itself. */
export const ownCall: ClientEnv = { address: null, isOwn: true };

export const isOwnCall = ({ env }: Context): boolean =>
  (env as ClientEnv | undefined)?.isOwn === true;

/** The other end of the connection, as the runtime tells it: that of a proxy where there is one. Null: unknown. */
export const socketAddressOf = ({ env }: Context): string | null =>
  (env as ClientEnv | undefined)?.address ?? null;

/** The same in the form of `addressOf`. */
export function connectedAddressOf(c: Context): string | null {
  const address = socketAddressOf(c);
  return address === null ? null : clientNetwork(address);
}

/**
 * One text for all addresses that one client has as a rule: an IPv4 address, or the first 64 bits of an IPv6 address. Null: unknown.
 * `proxies`: how many stand before the service.
 */
export function addressOf(c: Context, proxies: number): string | null {
  const sent = proxies > 0 ? (c.req.header("X-Forwarded-For") ?? "") : "";
  let address: string | null = null;
  for (const entry of sent.split(",").reverse().slice(0, proxies)) {
    const network = clientNetwork(withoutPort(entry.trim()));
    // What stands further left was written by somebody before the proxy that this one is.
    if (network === null) break;
    address = network;
  }
  return address ?? connectedAddressOf(c);
}

/** Some proxies write `192.0.2.1:4711` and `[2001:db8::1]:4711`. */
const withoutPort = (entry: string): string =>
  /^\[([^\]]+)\](?::\d+)?$/.exec(entry)?.[1] ?? /^([\d.]+):\d+$/.exec(entry)?.[1] ?? entry;

/** Networks of addresses that were seen: reading an address takes longer than all else that is done with it. */
const networks = new Map<string, string | null>();
const networksMax = 10_000;

function clientNetwork(address: string): string | null {
  const known = networks.get(address);
  if (known !== undefined) return known;
  const network = networkOf(address);
  if (networks.size >= networksMax) networks.clear();
  if (address.length <= addressLengthMax) networks.set(address, network);
  return network;
}

/** An IPv6 address with an IPv4 one at its end. */
const addressLengthMax = 45;

function networkOf(address: string): string | null {
  if (!ipaddr.isValid(address)) return null;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === "ipv4") return parsed.toString();
  return `${parsed.toNormalizedString().split(":").slice(0, 4).join(":")}::/64`;
}
