/**
 * Which addresses a hook may reach without being named in `hooks.allowedHosts`: public ones. All else is the inside of a
 * network: this machine, its neighbours, the metadata services of clouds. `client.ts` asks this of each address before it
 * connects to it.
 */

/** First address and prefix length. */
type Block4 = readonly [first: string, bits: number];

/** IPv4 addresses that are not of the public internet (IANA's special-purpose registry, multicast and what is reserved). */
const innerBlocks: readonly Block4[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];

/**
 * `address`: IPv4 with points, or IPv6 without brackets, as the system's resolver gives them. What cannot be read is not
 * public.
 */
export function isPublic(address: string): boolean {
  const four = parse4(address);
  if (four !== null) return isPublic4(four);
  const six = parse6(address);
  return six !== null && isPublic6(six);
}

function isPublic4(address: number): boolean {
  return innerBlocks.every(([first, bits]) => {
    const size = 2 ** (32 - bits);
    return Math.floor(address / size) !== Math.floor(parse4(first)! / size);
  });
}

/** Only 2000::/3 is given out, and parts of it are not public; addresses that stand for an IPv4 address are as public as that. */
function isPublic6(groups: readonly number[]): boolean {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups;
  const embedded = g * 65_536 + h;
  const isZero = (...parts: number[]) => parts.every((part) => part === 0);
  const isMapped = isZero(a, b, c, d, e) && f === 0xffff;
  const isNat64 = a === 0x64 && b === 0xff9b && isZero(c, d, e, f);
  if (isMapped || isNat64) return isPublic4(embedded);
  if (a < 0x2000 || a > 0x3fff) return false;
  const isProtocol = a === 0x2001 && (b < 0x200 || b === 0xdb8);
  const is6to4 = a === 0x2002;
  const isDocumentation = a === 0x3fff && b < 0x1000;
  return !isProtocol && !is6to4 && !isDocumentation;
}

function parse4(address: string): number | null {
  const parts = address.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256))
    return null;
  return parts.reduce((sum, part) => sum * 256 + Number(part), 0);
}

/** The eight groups; null for what is no IPv6 address. One with a zone (`%eth0`) is of the own network, so it is not read. */
function parse6(address: string): number[] | null {
  const tail = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(address);
  const four = tail ? parse4(tail[2]!) : null;
  if (tail && four === null) return null;
  const text = tail
    ? `${tail[1]}${Math.floor(four! / 65_536).toString(16)}:${(four! % 65_536).toString(16)}`
    : address;
  const halves = text.split("::");
  if (halves.length > 2) return null;
  const [left = [], right = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - left.length - right.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return null;
  const groups = [...left, ...Array.from({ length: missing }, () => "0"), ...right];
  return groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))
    ? groups.map((group) => Number.parseInt(group, 16))
    : null;
}
