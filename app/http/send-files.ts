/** Answers with the files that a page of the service loads, compressed where the client takes it. */
import { notFound } from "../../core/values/errors.ts";
import { gzipHeaders, takesGzip } from "./compression.ts";
import type { Handle } from "./exchange.ts";
import { fileAnswer } from "./page-answer.ts";

export interface SentFiles {
  /** `path`: relative to the root of the service. Null: there is no such file. `gzips`: the client takes gzip. */
  read(path: string, options: { readonly gzips: boolean }): Promise<SentFile | null>;
}

export interface SentFile {
  readonly mediaType: string;
  readonly content: string | Uint8Array<ArrayBuffer>;
  readonly isGzipped: boolean;
}

/** The file at the path of the request. `open` is waited for at each request. */
export const showSentFile =
  (open: () => Promise<SentFiles>): Handle =>
  async (incoming, exchange) => {
    const { read } = await open();
    const file = await read(incoming.path.slice(1), { gzips: takesGzip(incoming.headers) });
    if (!file) throw notFound("No resource exists at this path");
    const headers = { Vary: "Accept-Encoding", ...(file.isGzipped && gzipHeaders) };
    return fileAnswer(exchange, { ...file, headers });
  };

/** Media types of the files that pages load. */
export const mediaTypes = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json; charset=utf-8",
} as const;
