/**
 * Requests for actions straight from Node's HTTP server, without a `Request` and a `Response`, which cost as much as the
 * action itself. Only plain requests go this way; for all others, @hono/node-server makes the objects.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type ClientEnv, clientAt } from "../http/client-address.ts";
import { type HeaderFields, type Incoming, tooLarge } from "../http/incoming.ts";
import type { Reply } from "../http/reply.ts";

/** A path that no URL parser would change, and any query. */
const plainTarget = /^(\/(?:[\w~-][\w.~-]*\/)*[\w~-][\w.~-]*)(?:\?[^#]*)?$/;
/** A name or an IPv4 address, and a port. */
const plainHost = /^[a-z\d](?:[a-z\d.-]*[a-z\d])?(?::\d{1,5})?$/i;

/** The path of a request that needs no `Request`; null for every other one. */
export function plainPathOf({ method, url, headers }: IncomingMessage): string | null {
  if (method !== "POST" && method !== "GET") return null;
  const { host } = headers;
  if (host === undefined || !plainHost.test(host)) return null;
  if (headers["transfer-encoding"] !== undefined) return null;
  if (headers["content-type"]?.startsWith("multipart/")) return null;
  return plainTarget.exec(url!)?.[1] ?? null;
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

  /** The parser's own list is read, because Node's object leaves out the second of some fields. */
  get(name: string): string | null {
    const { rawHeaders } = this.message;
    let found: string | null = null;
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const field = rawHeaders[at]!;
      if (field.length !== name.length || (field !== name && field.toLowerCase() !== name))
        continue;
      const value = rawHeaders[at + 1]!;
      found = found === null ? value : `${found}, ${value}`;
    }
    return found;
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
    const headers = new Headers();
    for (let at = 0; at < message.rawHeaders.length; at += 2)
      headers.append(message.rawHeaders[at]!, message.rawHeaders[at + 1]!);
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
