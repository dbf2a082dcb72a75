/**
 * Requests straight from Node's HTTP server. A `Request` and a `Response` cost as much as a small action itself, so a
 * `Request` is made only for pages and uploads.
 */
import type { IncomingMessage } from "node:http";
import { AppError, notFound } from "../../../core/values/errors.ts";
import { clientAt } from "../../http/client-address.ts";
import {
  type ClientEnv,
  type HeaderFields,
  type Incoming,
  pathOf,
  tooLarge,
} from "../../http/incoming.ts";

/** A path that no URL parser would change, and any query. */
const plainTarget = /^(\/(?:[\w~-][\w.~-]*\/)*[\w~-][\w.~-]*)(?:\?[^#]*)?$/;
/** A name or an IPv4 address, and a port. */
const plainHost = /^[a-z\d](?:[a-z\d.-]*[a-z\d])?(?::\d{1,5})?$/i;

/** An AppError for a request whose Host or URL is malformed, or whose path is not the address of anything. */
export function readIncoming(message: IncomingMessage): NodeIncoming | AppError {
  const { httpVersion, url: target = "", headers } = message;
  const { host, "transfer-encoding": coding } = headers;
  // Node's parser takes off the chunks and leaves every other coding in the body.
  if (coding !== undefined && coding.toLowerCase() !== "chunked")
    return new AppError("notImplemented", "Only chunked is supported as Transfer-Encoding");
  const joined = hasRepeatedFields(message) ? allFields(message) : null;
  // A proxy may have believed another one than we would.
  if (joined?.get("host")?.includes(","))
    return new AppError("badRequest", "The request has several Host headers");
  const path = plainTarget.exec(target)?.[1];
  if (path !== undefined && host !== undefined && isPlainHost(host))
    return new NodeIncoming(message, { url: `http://${host}${target}`, path, joined });
  if (host === undefined && httpVersion === "1.1")
    return new AppError("badRequest", "The request has no Host header");
  const url = urlOf(target, host || "localhost");
  if (url === null)
    return new AppError("badRequest", "The URL or the Host header of the request is malformed");
  // One thing has one address: `/a/../b` has become `/b`.
  const [sent = ""] = target.replace(/^https?:\/\/[^/?#]*/, "").split(/[?#]/, 1);
  if (pathOf(url) !== (sent || "/")) return notFound("No resource exists at this path");
  return new NodeIncoming(message, { url, path: pathOf(url), joined });
}

/** The last plain host: most requests have the same one. */
let lastHost = "";

function isPlainHost(host: string): boolean {
  if (host === lastHost) return true;
  // Ports and addresses can still be out of range.
  if (!plainHost.test(host) || !URL.canParse(`http://${host}/`)) return false;
  lastHost = host;
  return true;
}

/** Null: malformed. A target may be a whole URL; a host is only a name and a port. */
function urlOf(target: string, host: string): string | null {
  if (/^[^?]*\\/.test(target)) return null;
  const isWhole = /^https?:\/\//.test(target);
  if (!isWhole && !target.startsWith("/")) return null;
  const url = URL.parse(isWhole ? target : `http://${host}${target}`);
  if (url === null) return null;
  // A `Request` can have neither, and nothing reads them.
  url.username = url.password = "";
  const isHost = isWhole || url.hostname === host.replace(/:\d+$/, "").toLowerCase();
  return isHost ? url.href : null;
}

interface ReadHead {
  readonly url: string;
  readonly path: string;
  /** Null: no field was sent twice. */
  readonly joined: Headers | null;
}

export class NodeIncoming implements Incoming, HeaderFields {
  readonly url: string;
  readonly path: string;
  private readonly message: IncomingMessage;
  private readonly joined: Headers | null;
  private made: Request | undefined;
  private isWhole = false;

  constructor(message: IncomingMessage, { url, path, joined }: ReadHead) {
    this.message = message;
    this.url = url;
    this.path = path;
    this.joined = joined;
  }

  get method(): string {
    return this.message.method!;
  }

  get client(): ClientEnv {
    return clientAt(this.message.socket.remoteAddress ?? null);
  }

  get headers(): HeaderFields {
    return this;
  }

  get(name: string): string | null {
    if (this.joined !== null) return this.joined.get(name);
    const value = this.message.headers[name];
    return typeof value === "string" ? value : null;
  }

  async bytes(bytesMax: number): Promise<Uint8Array> {
    const { message } = this;
    const announced = Number(message.headers["content-length"] ?? Number.NaN);
    if (announced > bytesMax) throw tooLarge(bytesMax);
    // A body that came together with the head is here next, before the parser has found its end, and the stream's events
    // cost more.
    await undefined;
    this.isWhole = message.readableLength === announced;
    return this.isWhole ? ((message.read() ?? nothing) as Buffer) : this.arriving(bytesMax);
  }

  /** Whether all of the body has arrived. */
  get complete(): boolean {
    return this.isWhole || this.message.complete;
  }

  private arriving(bytesMax: number): Promise<Uint8Array> {
    const { message } = this;
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let size = 0;
      message.on("data", (chunk: Buffer) => {
        size += chunk.byteLength;
        if (size > bytesMax) reject(tooLarge(bytesMax));
        else chunks.push(chunk);
      });
      message.on("end", () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
      message.on("error", reject);
      message.on("close", () => {
        // It follows every end, and an Error takes longer than the rest of this.
        if (!message.readableEnded) reject(new Error("The connection was closed"));
      });
    });
  }

  get request(): Request {
    return (this.made ??= this.makeRequest());
  }

  private makeRequest(): Request {
    const { method, url, message } = this;
    const headers = this.joined ?? allFields(message);
    if (method === "GET" || method === "HEAD") return new Request(url, { method, headers });
    // The body is not read before it is asked for, and the connection stays open when the reader stops.
    const body = ReadableStream.from(message.iterator({ destroyOnReturn: false }));
    // No Request can have the method TRACE; pages refuse it as they refuse PUT.
    const init = { method: method === "TRACE" ? "PUT" : method, headers, body, duplex: "half" };
    return new Request(url, init as RequestInit);
  }
}

const nothing = Buffer.alloc(0);

/** Node's object of the fields leaves out the second of some. */
function hasRepeatedFields({ headers, rawHeaders }: IncomingMessage): boolean {
  let different = 0;
  for (const _ in headers) different++;
  return different * 2 !== rawHeaders.length;
}

function allFields({ rawHeaders }: IncomingMessage): Headers {
  const fields = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2)
    fields.append(rawHeaders[at]!, rawHeaders[at + 1]!);
  return fields;
}
