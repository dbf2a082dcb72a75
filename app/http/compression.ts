/** Compresses what clients load, if they accept it: pages, their files, documents, and long answers of actions. */
import type { Handle } from "./exchange.ts";
import type { HeaderFields } from "./incoming.ts";
import { extended, type Reply } from "./reply.ts";

/** gzip of the runtime. Long contents are compressed beside the main thread. */
export interface Compression {
  /** `level`: 1 (quick) to 9 (small); absent: the runtime's own. */
  gzip(content: string | Uint8Array, level?: number): Promise<Uint8Array<ArrayBuffer>>;
  gunzip(content: Uint8Array): Promise<Uint8Array<ArrayBuffer>>;
}

/** What is compressed, and how. */
export interface Packing {
  /** Shorter texts stay as they are. */
  readonly bytesMin: number;
  readonly level?: number;
}

/** Made once and sent often. Smaller texts fit into one packet. */
const packedPages: Packing = { bytesMin: 1_024 };

/** Made for one client: the first level takes a fifth of the time of the usual one, and saves nearly as much. */
export const packedAnswers: Packing = { bytesMin: 8_192, level: 1 };

const isText = (mediaType = ""): boolean =>
  /^(text\/|application\/(json|javascript|xml)|image\/svg)/.test(mediaType);

/** What a header such as Accept names, in lower case, with its quality. */
function qualitiesIn(header: string | null): ReadonlyMap<string, number> {
  const offers = (header ?? "").toLowerCase().split(",");
  return new Map(
    offers.map((offer): [string, number] => {
      const [name = "", ...parameters] = offer.split(";").map((part) => part.trim());
      const quality = parameters.find((part) => part.startsWith("q="));
      return [name, quality === undefined ? 1 : Number(quality.slice(2))];
    }),
  );
}

/** Whether the client names csv, and names JSON not at all or as something that it likes less. */
export function prefersCsv(headers: HeaderFields): boolean {
  const accept = headers.get("accept");
  if (accept === null || !/text\/csv/i.test(accept)) return false;
  const qualities = qualitiesIn(accept);
  return (qualities.get("text/csv") ?? 0) > (qualities.get("application/json") ?? 0);
}

/** Whether the client takes gzip, as it says in Accept-Encoding. */
export function takesGzip(headers: HeaderFields): boolean {
  const qualities = qualitiesIn(headers.get("accept-encoding"));
  return (qualities.get("gzip") ?? qualities.get("*") ?? 0) > 0;
}

/** The headers of a compressed answer. */
export const gzipHeaders = { "Content-Encoding": "gzip" } as const;

/** `compression`: null where the platform compresses answers itself. */
export const compressing =
  (
    handle: Handle,
    compression: Compression | null,
    { bytesMin, level }: Packing = packedPages,
  ): Handle =>
  async (incoming, exchange) => {
    const reply = await handle(incoming, exchange);
    if (compression === null || !isLongText(reply, bytesMin)) return reply;
    const varies = /accept-encoding/i.test(reply.headers["Vary"] ?? "");
    const varying = varies ? reply : extended(reply, { Vary: "Accept-Encoding" });
    if (!takesGzip(incoming.headers)) return varying;
    const body = await compression.gzip(reply.body, level);
    return { ...varying, headers: { ...varying.headers, ...gzipHeaders }, body };
  };

/** Of an answer that is not compressed yet. Parts of files are streams. */
function isLongText(
  reply: Reply,
  bytesMin: number,
): reply is Reply & { readonly body: string | Uint8Array<ArrayBuffer> } {
  const { body, headers } = reply;
  return (
    (typeof body === "string" || body instanceof Uint8Array) &&
    body.length >= bytesMin &&
    headers["Content-Encoding"] === undefined &&
    isText(headers["Content-Type"])
  );
}
