/**
 * Protection against requests that browsers send for pages of other origins. A page can make a browser send forms,
 * uploads and requests without a body to any address, and its domain may resolve to the loopback address (DNS
 * rebinding), where no credentials are required.
 */
import { isOwnName } from "../../core/values/addresses.ts";
import { AppError } from "../../core/values/errors.ts";
import type { Incoming } from "./incoming.ts";

/** Throws an AppError for a request that must not be answered. */
export type CheckHost = (incoming: Pick<Incoming, "url">) => void;

/** `host`: an address to listen on. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" ||
  host === "::1" ||
  host.startsWith("127.") ||
  host.startsWith("::ffff:127.");

/** Accepts requests to a loopback name, to a name below `localhost`, or to a name in `allowed`, on any port. */
export function createHostCheck(allowed: readonly string[]): CheckHost {
  const names = new Set(allowed.map((name) => name.toLowerCase()));
  // Most requests come to one name.
  let last = "";
  return ({ url }) => {
    const origin = url.slice(0, url.indexOf("/", url.indexOf(":") + 3));
    if (origin === last) return;
    const { hostname } = new URL(url);
    if (isOwnName(hostname) || names.has(hostname)) {
      last = origin;
      return;
    }
    throw new AppError(
      "misdirected",
      `The host name ${JSON.stringify(hostname)} is not allowed; add it to ALLOWED_HOSTS`,
    );
  };
}

/**
 * Throws `forbidden` for requests that a page of another origin can send without a CORS preflight: those whose body is
 * not JSON. JSON from other origins is blocked by the browser itself. `origins`: the origins whose pages may call the
 * project; `evenJson`: such requests are refused too, for paths whose protocol demands it.
 */
export function checkOrigin(
  { url, headers }: Pick<Incoming, "url" | "headers">,
  origins: readonly string[],
  { evenJson = false } = {},
): void {
  if (!evenJson && /^application\/json\s*(;|$)/i.test(headers.get("content-type") ?? "")) return;
  const origin = headers.get("origin");
  const site = headers.get("sec-fetch-site");
  const isOwn =
    site === null
      ? origin === null || (URL.canParse(origin) && new URL(origin).host === new URL(url).host)
      : site === "same-origin" || site === "none";
  if (isOwn || origins.includes("*") || (origin !== null && origins.includes(origin))) return;
  throw new AppError(
    "forbidden",
    `Pages of ${origin ?? "another origin"} may not send this request; add the origin to "cors.origins" in project.json`,
  );
}
