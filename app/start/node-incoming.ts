/**
 * Requests for actions straight from Node's HTTP server, without a `Request` and a `Response`, which cost as much as the
 * action itself. Only plain requests go this way; for all others, @hono/node-server makes the objects.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { clientAt } from "../http/client-address.ts";
import { type ClientEnv, type HeaderFields, type Incoming, tooLarge } from "../http/incoming.ts";
import type { Reply } from "../http/reply.ts";

/** A path that no URL parser would change, and any query. */
const plainTarget = /^(\/(?:[\w~-][\w.~-]*\/)*[\w~-][\w.~-]*)(?:\?[^#]*)?$/;
/** A name or an IPv4 address, and a port. */
const plainHost = /^[a-z\d](?:[a-z\d.-]*[a-z\d])?(?::\d{1,5})?$/i;

/** The path of a request that needs no `Request`; null for every other one. */
export function plainPathOf(message: IncomingMessage): string | null {
  const { method, headers } = message;
  if (method !== "POST" && method !== "GET") return null;
  const { host } = headers;
  if (host === undefined || !isPlainHost(host)) return null;
  if (headers["transfer-encoding"] !== undefined) return null;
  if (/^multipart\//i.test(headers["content-type"] ?? "")) return null;
  return hasRepeatedFields(message) ? null : (plainTarget.exec(message.url!)?.[1] ?? null);
}

/** The last one that was plain: most requests come to one. */
let lastHost = "";

function isPlainHost(host: string): boolean {
  if (host === lastHost) return true;
  // Ports and addresses may still be out of range.
  if (!plainHost.test(host) || !URL.canParse(`http://${host}/`)) return false;
  lastHost = host;
  return true;
}

/** Node's object of the fields leaves out the second of some. */
function hasRepeatedFields({ headers, rawHeaders }: IncomingMessage): boolean {
  let different = 0;
  for (const _ in headers) different++;
  return different * 2 !== rawHeaders.length;
}

/** A request with the plain path `path`. */
export class NodeIncoming implements Incoming, HeaderFields {
  readonly path: string;
  readonly route = null;
  private readonly message: IncomingMessage;

  constructor(message: IncomingMessage, path: string) {
    this.message = message;
    this.path = path;
  }

  get method(): string {
    return this.message.method!;
  }

  get url(): string {
    return `http://${this.message.headers.host}${this.message.url}`;
  }

  get client(): ClientEnv {
    return clientAt(this.message.socket.remoteAddress ?? null);
  }

  get headers(): HeaderFields {
    return this;
  }

  get(name: string): string | null {
    const value = this.message.headers[name];
    return typeof value === "string" ? value : null;
  }

  bytes(bytesMax: number): Promise<Uint8Array> {
    const { message } = this;
    if (Number(message.headers["content-length"] ?? 0) > bytesMax)
      return Promise.reject(tooLarge(bytesMax));
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      message.on("data", (chunk: Buffer) => void chunks.push(chunk));
      message.on("end", () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
      message.on("error", reject);
      message.on("close", () => {
        // It follows every end, and an Error takes longer than the rest of this.
        if (!message.readableEnded) reject(new Error("The connection was closed"));
      });
    });
  }

  /** Without the body: those that need it as a stream are not plain. */
  get request(): Request {
    const { method, url, message } = this;
    const headers = Object.entries(message.headers).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]);
    return new Request(url, { method, headers });
  }
}

/** Writes a reply. `closes`: the connection ends with it. Never rejects: a client that has left gets nothing. */
export async function send(
  outgoing: ServerResponse,
  { status, headers, body }: Reply,
  closes: boolean,
): Promise<void> {
  const ending = closes ? { Connection: "close" } : undefined;
  if (typeof body !== "string") {
    outgoing.writeHead(status, { ...headers, ...ending });
    if (body instanceof ReadableStream)
      await pipeline(Readable.fromWeb(body as never), outgoing).catch(() => undefined);
    else outgoing.end(body ?? undefined);
    return;
  }
  const length = Buffer.byteLength(body);
  outgoing.writeHead(status, { ...headers, "Content-Length": length, ...ending });
  // Text of ASCII alone needs no encoding.
  outgoing.end(body, length === body.length ? "latin1" : "utf8");
}
