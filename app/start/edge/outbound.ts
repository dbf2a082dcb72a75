/**
 * core's `Outbound` over `fetch`, for runtimes without sockets for HTTP. The rules are those of
 * `app/outbound/outbound-client.ts` with one exception: the resolved address of a host name is not visible here, so
 * only the URL itself is checked.
 */
import { hostAndPort } from "../../../core/values/addresses.ts";
import { limits } from "../../../core/values/limits.ts";
import type { Outbound, OutboundRequest } from "../../../core/plans/outbound-port.ts";
import { isPublic } from "../../outbound/address.ts";

export interface EdgeOutboundOptions {
  /** `host:port`, as `localhost:8080` or `[::1]:8080`, that may be called although the address is not public. */
  readonly allowedHosts: readonly string[];
  /** Answers requests to this service. */
  readonly own: (request: Request) => Promise<Response> | Response;
}

export function createEdgeOutbound({ allowedHosts, own }: EdgeOutboundOptions): Outbound {
  const allowed = new Set(allowedHosts.map((entry) => hostAndPort(new URL(`http://${entry}`))));

  async function respond(request: OutboundRequest, signal: AbortSignal): Promise<Response> {
    const { method, url, headers, body } = request;
    const init = { method, headers, body, signal, redirect: "manual" } as const;
    if (url.startsWith("/")) return own(new Request(`http://localhost${url}`, init));
    const target = new URL(url);
    if (!/^https?:$/.test(target.protocol)) throw new Error("Only http and https can be called");
    if (!allowed.has(hostAndPort(target)) && !mayBePublic(target.hostname)) {
      const place = hostAndPort(target);
      throw new Error(
        `${place} is not a public address; to allow it, add it to hooks.allowedHosts`,
      );
    }
    return fetch(target, init);
  }

  return {
    async send(request, given) {
      const overall = AbortSignal.timeout(Math.ceil(request.timeoutMs));
      const signal = given ? AbortSignal.any([given, overall]) : overall;
      const response = await respond(request, signal);
      refuseLongHead(response.headers);
      return { status: response.status, text: await textOf(response) };
    },
  };
}

/** Host names that usually belong to an internal network. */
const innerName = /(?:^|\.)(?:localhost|local|internal|intranet|lan|home\.arpa)\.?$/i;

/** `host` as the URL parser writes it. */
function mayBePublic(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, "$1");
  const isAddress = address !== host || /^[\d.]+$/.test(host);
  return isAddress ? isPublic(address) : !innerName.test(host);
}

/** Node has this limit built in. */
function refuseLongHead(headers: Headers): void {
  const length = [...headers].reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (length > headLengthMax) throw new Error("The headers of the answer are too long");
}

const headLengthMax = 16_384;

/** The body of the answer. Rejects when it is incomplete or too long. */
async function textOf({ body }: Response): Promise<string> {
  if (!body) return "";
  let size = 0;
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > limits.hookAnswerBytesMax) throw new Error("The answer is too long");
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
