/** Answers for browsers: the service's own pages, and the files that they load. */
import { headersOf } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";
import type { Reply } from "./reply.ts";

/** What a page without scripts can load. */
export const plainPagePolicy =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export interface PageAnswer {
  readonly text: string;
  /** Its Content-Security-Policy. */
  readonly policy: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export const pageAnswer = (
  exchange: Exchange,
  { text, policy, status = 200, headers }: PageAnswer,
): Reply => ({
  status,
  headers: {
    "Content-Type": "text/html; charset=utf-8",
    ...headersOf(exchange),
    "Content-Security-Policy": policy,
    ...headers,
  },
  body: text,
});

export interface FileContent {
  readonly mediaType: string;
  readonly content: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A file whose address changes with its content. */
export const fileAnswer = (
  exchange: Exchange,
  { mediaType, content, headers }: FileContent,
): Reply => ({
  status: 200,
  headers: {
    "Content-Type": mediaType,
    ...headersOf(exchange),
    "Cache-Control": "public, max-age=31536000, immutable",
    ...headers,
  },
  body: content,
});
