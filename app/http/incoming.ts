/**
 * A request as the handlers see it. Every runtime can make one from a `Request`. A server that already has the parts of
 * a request hands them on as they are, because making a `Request` of them costs more than finding an action.
 */
import { AppError } from "../../core/values/errors.ts";

/** Beside a request. */
export interface ClientEnv {
  readonly address?: string | null | undefined;
  readonly isOwn?: boolean;
}

/** Header fields by their names in lower case. Repeated fields are joined by commas, as in `Headers`. */
export interface HeaderFields {
  get(name: string): string | null;
}

export interface Incoming {
  readonly method: string;
  /** As it was sent, below the path at which the service is mounted. */
  readonly path: string;
  /** Absolute, with the query. */
  readonly url: string;
  readonly headers: HeaderFields;
  readonly client: ClientEnv;
  /**
   * The whole body; call it at most once. Rejects with `payloadTooLarge` above `bytesMax`, and with any other error
   * when the client closed the connection.
   */
  bytes(bytesMax: number): Promise<Uint8Array>;
  /** The same request for Hono, and for reading the body piece by piece. Made on first use where a server has none. */
  readonly request: Request;
}

/** The path of a URL as it was sent: percent signs stay, so that one resource has one address. */
export function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf(":") + 3);
  for (let end = start; end < url.length; end++) {
    const code = url.charCodeAt(end);
    // `?` or `#`
    if (code === 63 || code === 35) return url.slice(start, end);
  }
  return url.slice(start);
}

/** `path`: below the path at which the service is mounted. */
export class WebIncoming implements Incoming {
  readonly request: Request;
  readonly path: string;
  readonly client: ClientEnv;

  constructor(request: Request, path: string, client: ClientEnv) {
    this.request = request;
    this.path = path;
    this.client = client;
  }

  get method(): string {
    return this.request.method;
  }

  get url(): string {
    return this.request.url;
  }

  get headers(): HeaderFields {
    return this.request.headers;
  }

  async bytes(bytesMax: number): Promise<Uint8Array> {
    const announced = this.request.headers.get("content-length");
    if (announced === null) return readChunks(this.request, bytesMax);
    if (Number(announced) > bytesMax) throw tooLarge(bytesMax);
    // The HTTP parser enforces the announced length, so the whole body can be read at once.
    const bytes = await this.request.arrayBuffer();
    // Not every caller of the app uses such a parser.
    if (bytes.byteLength > bytesMax) throw tooLarge(bytesMax);
    return new Uint8Array(bytes);
  }
}

async function readChunks(request: Request, bytesMax: number): Promise<Uint8Array> {
  if (!request.body) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > bytesMax) throw tooLarge(bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export const tooLarge = (bytesMax: number): AppError =>
  new AppError("payloadTooLarge", `The body must have at most ${bytesMax} bytes`);
