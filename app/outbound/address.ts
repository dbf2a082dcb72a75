/**
 * Which addresses a hook may reach without being named in `hooks.allowedHosts`: public ones. All else is the inside of a
 * network: this machine, its neighbours, the metadata services of clouds. `client.ts` asks this of each address before it
 * connects to it.
 *
 * ipaddr.js reads the addresses and knows what IANA gave out for special use. Its readings that no resolver gives, and that other programs
 * read differently, are left out here: `127.1`, octal and hexadecimal parts, zones, and `::1.1.1.1`, which it takes for `::ffff:1.1.1.1`.
 */
import ipaddr from "ipaddr.js";

/**
 * `address`: IPv4 with points, or IPv6 without brackets, as the system's resolver gives them. What cannot be read is not
 * public.
 */
export function isPublic(address: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return isPublic4(ipaddr.IPv4.parse(address));
  const isPlain = ipaddr.IPv6.isValid(address) && !address.includes("%");
  return isPlain && !compatible.test(address) && isPublic6(ipaddr.IPv6.parse(address));
}

/** An IPv4 address within `::/96`, a form that nobody uses any more. */
const compatible = /^::\d+(?:\.\d+)+$/;

const isPublic4 = (address: ipaddr.IPv4): boolean => address.range() === "unicast";

/** Only 2000::/3 is given out, and parts of it are not public; addresses that stand for an IPv4 address are as public as that. */
function isPublic6(address: ipaddr.IPv6): boolean {
  if (address.isIPv4MappedAddress()) return isPublic4(address.toIPv4Address());
  if (address.match(nat64)) return isPublic4(new ipaddr.IPv4(address.toByteArray().slice(12)));
  return address.match(given) && !address.match(protocols) && address.range() === "unicast";
}

const nat64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");
const given = ipaddr.IPv6.parseCIDR("2000::/3");
/** Held back for protocols as a whole, whatever is given out within it. */
const protocols = ipaddr.IPv6.parseCIDR("2001::/23");
