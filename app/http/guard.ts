/**
 * Which requests of browsers are taken from pages of other origins. A page may make a browser send forms, uploads and requests without a
 * body anywhere, and a name that it owns may point at the loopback address (DNS rebinding), where nobody is asked for credentials.
 */
import { AppError } from "../../core/values/errors.ts";

/** Throws an AppError for a request that is not to be answered. */
export type CheckHost = (request: Request) => void;

/** `host`: an address to listen on. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" ||
  host === "::1" ||
  host.startsWith("127.") ||
  host.startsWith("::ffff:127.");

const ownNames: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** Lets pass requests to a loopback name, to a name below `localhost`, or to one of `allowed`; whatever the port. */
export function createHostCheck(allowed: readonly string[]): CheckHost {
  const names = new Set([...ownNames, ...allowed.map((name) => name.toLowerCase())]);
  return ({ url }) => {
    const { hostname } = new URL(url);
    if (names.has(hostname) || hostname.endsWith(".localhost")) return;
    throw new AppError(
      "misdirected",
      `The service does not answer to the name ${JSON.stringify(hostname)}; ALLOWED_HOSTS takes further names`,
    );
  };
}

/**
 * Rejects with `forbidden` what a page of another origin can send without being allowed to: a request whose body is not JSON. JSON from
 * there is held back by the browser itself. `origins`: those whose pages may call the project.
 */
export function checkOrigin({ url, headers }: Request, origins: readonly string[]): void {
  if (/^application\/json\s*(;|$)/i.test(headers.get("Content-Type") ?? "")) return;
  const origin = headers.get("Origin");
  const site = headers.get("Sec-Fetch-Site");
  const isOwn =
    site === null
      ? origin === null || (URL.canParse(origin) && new URL(origin).host === new URL(url).host)
      : site === "same-origin" || site === "none";
  if (isOwn || origins.includes("*") || (origin !== null && origins.includes(origin))) return;
  throw new AppError(
    "forbidden",
    `Pages of ${origin ?? "another origin"} may not send this; "cors.origins" in project.json takes further origins`,
  );
}
