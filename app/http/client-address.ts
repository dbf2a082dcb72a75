/**
 * The address of the client. Each runtime passes the other end of the connection beside the request. Behind a proxy
 * that is the proxy, which names the client in `X-Forwarded-For`. Any client can send that header, so only its last
 * entries are trusted: as many as there are proxies (TRUST_PROXY).
 */
import ipaddr from "ipaddr.js";
import type { ClientEnv, Incoming } from "./incoming.ts";

/** The second argument of `app.fetch`. `address` null: unknown. */
export const clientAt = (address: string | null): ClientEnv => ({ address });

/** The same, for requests that the service makes to itself. */
export const ownCall: ClientEnv = { address: null, isOwn: true };

export const isOwnCall = ({ client }: Pick<Incoming, "client">): boolean => client.isOwn === true;

/** The other end of the connection according to the runtime; behind a proxy, the proxy. Null: unknown. */
export const socketAddressOf = ({ client }: Pick<Incoming, "client">): string | null =>
  client.address ?? null;

/** The same in the form of `addressOf`. */
export function connectedAddressOf(incoming: Pick<Incoming, "client">): string | null {
  const address = socketAddressOf(incoming);
  return address === null ? null : clientNetwork(address);
}

/**
 * One text for all addresses that usually belong to one client: an IPv4 address, or the first 64 bits of an IPv6
 * address. Null: unknown. `proxies`: how many there are before the service.
 */
export function addressOf(
  incoming: Pick<Incoming, "client" | "headers">,
  proxies: number,
): string | null {
  if (proxies === 0) return connectedAddressOf(incoming);
  const sent = incoming.headers.get("x-forwarded-for") ?? "";
  let address: string | null = null;
  for (const entry of sent.split(",").reverse().slice(0, proxies)) {
    const network = clientNetwork(withoutPort(entry.trim()));
    // The entries further left were written before this proxy, so they cannot be trusted.
    if (network === null) break;
    address = network;
  }
  return address ?? connectedAddressOf(incoming);
}

/** Some proxies write `192.0.2.1:4711` and `[2001:db8::1]:4711`. */
const withoutPort = (entry: string): string =>
  /^\[([^\]]+)\](?::\d+)?$/.exec(entry)?.[1] ?? /^([\d.]+):\d+$/.exec(entry)?.[1] ?? entry;

/** Cache of networks by address, because parsing an address takes longer than all other work on it. */
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
