/**
 * Calls other services over HTTP for the hooks of a workflow: core's `Outbound`. The host name is resolved here, and
 * the connection goes to an address that was checked, so a second look-up cannot lead elsewhere. Redirects are not
 * followed. Answers have limits of time and size. A URL that is a path goes to this service itself, without a network.
 */
import { lookup } from "node:dns/promises";
import { type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP } from "node:net";
import { hostAndPort } from "../../core/values/addresses.ts";
import { limits } from "../../core/values/limits.ts";
import type { Outbound, OutboundAnswer, OutboundRequest } from "../../core/plans/outbound-port.ts";
import { isPublic } from "./address.ts";

export interface OutboundOptions {
  /** `host:port`, as `localhost:8080` or `[::1]:8080`, that may be called although the address is not public. */
  readonly allowedHosts: readonly string[];
  /** Answers requests to this service. */
  readonly own: (request: Request) => Promise<Response> | Response;
  /** Resolves a name to its addresses; absent: the system's resolver. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
}

/** One address of a URL's host. */
interface Place {
  readonly url: URL;
  readonly address: string;
}

export function createOutbound({
  allowedHosts,
  own,
  resolve = addressesOf,
}: OutboundOptions): Outbound {
  const allowed = new Set(allowedHosts.map((entry) => hostAndPort(new URL(`http://${entry}`))));

  async function sendOut(request: OutboundRequest, signal: AbortSignal): Promise<OutboundAnswer> {
    const url = new URL(request.url);
    if (!/^https?:$/.test(url.protocol)) throw new Error("Only http and https can be called");
    const host = hostOf(url);
    const found = isIP(host) === 0 ? await resolve(host) : [host];
    const reachable = allowed.has(hostAndPort(url)) ? found : found.filter(isPublic);
    if (reachable.length === 0) {
      const reason = found.length === 0 ? "has no address" : "is not a public address";
      throw new Error(`${hostAndPort(url)} ${reason}; to allow it, add it to hooks.allowedHosts`);
    }
    let failure: unknown;
    for (const address of reachable) {
      signal.throwIfAborted();
      const attempt = exchange({ url, address }, request, signal);
      try {
        return await attempt.answer;
      } catch (error) {
        failure = error;
        // Once connected, the service can have received the call.
        if (attempt.isConnected()) break;
      }
    }
    throw failure;
  }

  async function sendOwn(request: OutboundRequest, signal: AbortSignal): Promise<OutboundAnswer> {
    const { method, url, headers, body } = request;
    const response = await own(
      new Request(`http://localhost${url}`, { method, headers, body, signal, redirect: "manual" }),
    );
    // For a call to this service itself, only success or failure counts.
    await response.body?.cancel();
    return { status: response.status, text: "" };
  }

  return {
    async send(request, given) {
      const overall = AbortSignal.timeout(Math.ceil(request.timeoutMs));
      const signal = given ? AbortSignal.any([given, overall]) : overall;
      const work = request.url.startsWith("/") ? sendOwn : sendOut;
      return unlessAborted(work(request, signal), signal);
    },
  };
}

/** IPv4 first: fewer networks lack it. */
async function addressesOf(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true, order: "ipv4first" });
  return found.map(({ address }) => address);
}

/** Without the brackets of an IPv6 address. */
const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, "$1");

const portOf = (url: URL): number =>
  url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);

/** Sends the request to exactly this address; the name is used for the Host header and the certificate. */
function exchange({ url, address }: Place, request: OutboundRequest, signal: AbortSignal) {
  const isSecure = url.protocol === "https:";
  let isConnected = false;
  let isAnswered = false;
  const sent: ClientRequest = (isSecure ? requestHttps : requestHttp)({
    host: address,
    port: portOf(url),
    ...(isSecure && isIP(hostOf(url)) === 0 && { servername: url.hostname }),
    method: request.method,
    path: `${url.pathname}${url.search}`,
    headers: {
      ...request.headers,
      Host: url.host,
      ...(request.body !== null && {
        "Content-Length": new TextEncoder().encode(request.body).length,
      }),
    },
    // Its own connection, which ends with the call.
    agent: false,
    signal,
  });
  const answer = new Promise<OutboundAnswer>((resolve, reject) => {
    sent.on("socket", (socket) => {
      socket.once(isSecure ? "secureConnect" : "connect", () => (isConnected = true));
    });
    sent.on("error", reject);
    sent.on("close", () => {
      if (!isAnswered) reject(new Error("The connection ended without an answer"));
    });
    sent.on("response", (response) => {
      isAnswered = true;
      textOf(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
    });
  }).finally(() => sent.destroy());
  sent.end(request.body ?? undefined);
  return { answer, isConnected: () => isConnected || isAnswered };
}

/** The answer's body. Rejects when the connection breaks or the body is too long. */
function textOf(response: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let size = 0;
    const chunks: Uint8Array[] = [];
    response.on("data", (chunk: Uint8Array) => {
      size += chunk.byteLength;
      if (size > limits.hookAnswerBytesMax) reject(new Error("The answer is too long"));
      else chunks.push(chunk);
    });
    response.on("end", () =>
      response.complete
        ? resolve(Buffer.concat(chunks).toString())
        : reject(new Error("The answer broke off")),
    );
    response.on("error", reject);
    response.on("close", () => reject(new Error("The answer broke off")));
  });
}

/** Stops waiting when the signal is aborted, because not every step of a call can be stopped. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
    work.catch(() => undefined);
  }
}
