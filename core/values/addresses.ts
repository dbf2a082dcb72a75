/** Addresses of networks in their usual texts, as databases and URLs have them. Pure functions. */

const byte = String.raw`(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`;
const four = new RegExp(String.raw`^${byte}(?:\.${byte}){3}$`);

/** `192.0.2.1`, without zeros in front. */
export const isAddress4 = (text: string): boolean => four.test(text);

/** `2001:db8::1`, also with an IPv4 address at its end (`::ffff:192.0.2.1`); no zone, no brackets. */
export function isAddress6(text: string): boolean {
  const tail = /[^:]*$/.exec(text)![0];
  const endsInFour = tail.includes(".");
  if (endsInFour && !isAddress4(tail)) return false;
  const plain = endsInFour ? `${text.slice(0, -tail.length)}0:0` : text;
  const halves = plain.split("::");
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  if (!groups.every((group) => /^[\da-f]{1,4}$/i.test(group))) return false;
  return halves.length === 2 ? groups.length < 8 : groups.length === 8;
}

/** `localhost:8080`, `[::1]:443`: always with the port, also the default one of http or https. */
export const hostAndPort = ({ protocol, hostname, port }: URL): string =>
  `${hostname}:${port === "" ? (protocol === "https:" ? "443" : "80") : port}`;

const ownNames: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** `hostname`: as in `URL`. True: a loopback name, which other machines and foreign pages cannot use for this one. */
export const isOwnName = (hostname: string): boolean =>
  ownNames.includes(hostname) || hostname.endsWith(".localhost");
