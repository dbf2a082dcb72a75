/**
 * Which addresses a hook can reach without being named in `hooks.allowedHosts`: public ones. All others are internal
 * networks: this machine, its neighbours, the metadata services of clouds. Each address is checked before connecting.
 *
 * ipaddr.js parses the addresses and knows IANA's special-purpose ranges. Forms that no resolver returns and that other
 * programs parse differently are rejected: `127.1`, octal and hexadecimal parts, zones, and `::1.1.1.1`, which it takes
 * for `::ffff:1.1.1.1`.
 */
import ipaddr from "ipaddr.js";

/**
 * `address`: IPv4 with points, or IPv6 without brackets, as the system's resolver returns them. Anything else is not
 * public.
 */
export function isPublic(address: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return isPublic4(ipaddr.IPv4.parse(address));
  const isPlain = ipaddr.IPv6.isValid(address) && !address.includes("%");
  return isPlain && !compatible.test(address) && isPublic6(ipaddr.IPv6.parse(address));
}

/** An IPv4 address within `::/96`, a deprecated form. */
const compatible = /^::\d+(?:\.\d+)+$/;

const isPublic4 = (address: ipaddr.IPv4): boolean => address.range() === "unicast";

/** Only 2000::/3 is assigned, and parts of it are not public. Addresses that embed an IPv4 address are judged by it. */
function isPublic6(address: ipaddr.IPv6): boolean {
  if (address.isIPv4MappedAddress()) return isPublic4(address.toIPv4Address());
  if (address.match(nat64)) return isPublic4(new ipaddr.IPv4(address.toByteArray().slice(12)));
  return address.match(given) && !address.match(protocols) && address.range() === "unicast";
}

const nat64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");
const given = ipaddr.IPv6.parseCIDR("2000::/3");
/** Reserved for protocols as a whole, even where parts are assigned. */
const protocols = ipaddr.IPv6.parseCIDR("2001::/23");
