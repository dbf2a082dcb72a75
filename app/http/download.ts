/** Answers a file, or the single range of it that the request asks for, if the client has not got it (RFC 9110). */
import type { AnsweredFile } from "../../core/calls/answer.ts";
import { headersOf } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";
import type { HeaderFields } from "./incoming.ts";
import type { Reply } from "./reply.ts";

/** Several ranges, or ranges that are not in bytes, give the whole file. HEAD has no ranges and reads no file. */
export async function download(
  exchange: Exchange,
  file: AnsweredFile,
  { isHead = false, headers: asked }: { isHead?: boolean; headers: Pick<HeaderFields, "get"> },
): Promise<Reply> {
  const { etag, isInline = false } = file;
  const headers = {
    "Content-Type": file.mediaType,
    "Content-Disposition": disposition(isInline ? "inline" : "attachment", file.name),
    "Accept-Ranges": "bytes",
    ...headersOf(exchange),
    // Kept by the client alone, which asks each time whether it may still have it.
    ...(etag !== undefined && { ETag: etag, "Cache-Control": "private, no-cache" }),
  };
  if (etag !== undefined && isAmong(etag, asked.get("if-none-match")))
    return { status: 304, headers, body: null };
  const condition = asked.get("if-range");
  const isSame = condition === null || condition === etag;
  const part = partOf(isSame && !isHead ? asked.get("range") : null, file.bytes);
  if (part === "unsatisfiable") {
    const contentRange = `bytes */${file.bytes}`;
    return { status: 416, headers: { ...headers, "Content-Range": contentRange }, body: null };
  }
  if (part === null) {
    const length = { "Content-Length": String(file.bytes) };
    const body = isHead ? null : await file.read();
    return { status: 200, headers: { ...headers, ...length }, body };
  }
  const { start, end } = part;
  return {
    status: 206,
    body: await file.read(part),
    headers: {
      ...headers,
      "Content-Length": String(end - start + 1),
      "Content-Range": `bytes ${start}-${end}/${file.bytes}`,
    },
  };
}

/** Whether If-None-Match names the ETag; weak ones count too (RFC 9110). */
const isAmong = (etag: string, header: string | null): boolean =>
  header !== null &&
  (header.trim() === "*" ||
    header.split(",").some((one) => one.trim().replace(/^W\//, "") === etag));

/** First and last byte; null = the whole file. */
function partOf(
  range: string | null,
  bytes: number,
): { start: number; end: number } | "unsatisfiable" | null {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/i.exec(range?.trim() ?? "") ?? [];
  if (first === undefined || last === undefined || first + last === "") return null;
  if (first !== "" && last !== "" && Number(last) < Number(first)) return null;
  // Without a first byte, the number counts from the end.
  const start = first === "" ? Math.max(0, bytes - Number(last)) : Number(first);
  const end = first === "" || last === "" ? bytes - 1 : Math.min(Number(last), bytes - 1);
  return start > end ? "unsatisfiable" : { start, end };
}

/** An ASCII name is used as it is; other names are added percent-encoded in UTF-8 (RFC 6266). */
export function disposition(type: "attachment" | "inline", name: string): string {
  if (/^[\w.-]+$/.test(name)) return `${type}; filename=${name}`;
  const plain = name.replace(/[^\x20-\x7e]|["\\]/g, "_");
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${type}; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
