/**
 * Reads a multipart body with one file as a stream: only the latest chunk is kept in memory. No library does this
 * (November 2026): the runtimes' own `formData()` and @remix-run/multipart-parser keep the whole file in memory first.
 * @fastify/busboy reads without limit what precedes the first part, the headers of a part, and what follows the last
 * part; it ignores a part without a name and supports only Node's streams. Adding limits and an adapter would take more
 * code than this file. busboy itself had its last release in 2024.
 */
import type { Upload } from "../../core/calls/action.ts";
import type { Deadlines } from "../../core/values/deadlines.ts";
import { AppError, invalidPayload } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";
import { arrival, type ArrivalOptions } from "./arrival.ts";
import { refuseCompressed } from "./body.ts";

/** The part that holds the file. */
const partName = "file";

/**
 * Resolves when the headers of the file were read. Rejects with 415 (not multipart), or 400: no boundary, no part
 * `file`, a second file, or too many texts beside it. `waiting.timeoutMs`: the total time to wait for the client, then
 * 408. Reading the bytes of the file rejects with the same errors, and with `clientClosed`.
 */
export async function readUpload(
  request: Request,
  { fields, refusesUnknown, ...waiting }: ArrivalOptions & Omit<Expected, "delimiter">,
): Promise<Upload> {
  refuseCompressed(request.headers);
  const type = request.headers.get("content-type") ?? "";
  if (!/^multipart\/form-data\s*(;|$)/i.test(type))
    throw new AppError("unsupportedMediaType", "Send the file as multipart/form-data");
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(type) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw invalidPayload("The Content-Type has no boundary");
  const body = new Pieces(request.body, waiting);
  try {
    const delimiter = ascii.encode(`\r\n--${boundary}`);
    return await openFile(body, { delimiter, fields, refusesUnknown });
  } catch (error) {
    body.cancel();
    throw error;
  }
}

const ascii = new TextEncoder();
const lineEnd = ascii.encode("\r\n");
const headersEnd = ascii.encode("\r\n\r\n");
const lastMark = ascii.encode("--");

interface Expected {
  readonly delimiter: Uint8Array;
  /** Names of the texts that count. */
  readonly fields: readonly string[];
  /** Whether other texts are refused, or read and ignored. */
  readonly refusesUnknown: boolean;
}

async function openFile(body: Pieces, expected: Expected): Promise<Upload> {
  const texts = new Map<string, string>();
  await body.upTo(expected.delimiter, limits.multipartHeaderBytesMax);
  const file = await nextFile(body, { ...expected, texts });
  if (file === null) throw noFile(expected.fields);
  const { name, mediaType } = file;
  return { name, fields: texts, mediaType, bytes: contentOf(body, { ...expected, texts }) };
}

interface Reading extends Expected {
  /** Gets the texts that count. */
  readonly texts: Map<string, string>;
}

/** Reads texts, and the headers of the next file; null: there is none, and the last part was read. */
async function nextFile(
  body: Pieces,
  { delimiter, fields, refusesUnknown, texts }: Reading,
): Promise<Pick<Upload, "name" | "mediaType"> | null> {
  for (let count = 0; count <= limits.multipartTextsMax; count += 1) {
    if (await body.startsWith(lastMark)) return null;
    await body.upTo(lineEnd, limits.multipartHeaderBytesMax);
    const headers = await body.upTo(headersEnd, limits.multipartHeaderBytesMax);
    const lines = decoder.decode(headers).split("\r\n");
    const { name, fileName } = dispositionOf(lines);
    if (name === partName && fileName !== null)
      return { name: fileName, mediaType: mediaTypeOf(lines) };
    const isText = name !== null && name !== partName && fileName === null;
    if (!isText || texts.has(name)) throw noFile(fields);
    const isKnown = fields.includes(name);
    if (refusesUnknown && !isKnown) throw noFile(fields);
    const text = await body.upTo(delimiter, limits.multipartHeaderBytesMax);
    if (isKnown) texts.set(name, decoder.decode(text));
  }
  throw invalidPayload(`The body may have ${limits.multipartTextsMax} texts beside its file`);
}

const noFile = (fields: readonly string[]) =>
  invalidPayload(
    `The body must contain one file, in a part named "${partName}"${fields.length > 0 ? `, and beside it the text ${fields.join(", ")}` : ""}`,
  );
const decoder = new TextDecoder();

/** The bytes of the file. Only texts may follow them. */
async function* contentOf(body: Pieces, reading: Reading): AsyncGenerator<Uint8Array> {
  try {
    yield* body.piecesUpTo(reading.delimiter);
    if ((await nextFile(body, reading)) !== null) throw noFile(reading.fields);
    await body.toEnd(limits.multipartHeaderBytesMax);
  } finally {
    body.cancel();
  }
}

/** The name and file name that the part's headers give; null where there is none. */
function dispositionOf(lines: readonly string[]): { name: string | null; fileName: string | null } {
  const line = lines.find((header) => /^content-disposition\s*:\s*form-data\s*(;|$)/i.test(header));
  const parameters = new Map<string, string>();
  for (const [, name = "", quoted, plain] of (line ?? "").matchAll(
    /;\s*([\w*]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g,
  ))
    parameters.set(name.toLowerCase(), quoted ?? plain ?? "");
  return { name: parameters.get("name") ?? null, fileName: fileNameIn(parameters) };
}

/** Browsers write three characters with percent signs (the HTML standard), others `\"`, and some RFC 5987. */
function fileNameIn(parameters: ReadonlyMap<string, string>): string | null {
  const [, encoded] = /^utf-8'[^']*'(.*)$/i.exec(parameters.get("filename*") ?? "") ?? [];
  const decoded = encoded === undefined ? null : percentDecoded(encoded);
  if (decoded !== null) return decoded;
  const plain = parameters.get("filename") ?? parameters.get("filename*") ?? null;
  return plain === null
    ? null
    : plain
        .replace(/\\(["\\])/g, "$1")
        .replace(/%(22|0d|0a)/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}

function percentDecoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

const mediaTypeOf = (lines: readonly string[]): string => {
  const line = lines.find((header) => /^content-type\s*:/i.test(header)) ?? "";
  return /^[^:]*:\s*([^\s;]*)/.exec(line)?.[1]?.toLowerCase() ?? "";
};

/** A body as chunks of bytes in which a delimiter can be searched. */
class Pieces {
  private readonly reader: ReadableStreamDefaultReader<Uint8Array> | null;
  /**
   * Bytes received but not consumed. It starts with a line end, because the first delimiter of a body has no line
   * before it.
   */
  private rest: Uint8Array = lineEnd;

  /** Remaining time for waiting, in milliseconds. */
  private patienceMs: number;

  private readonly deadlines: Deadlines;

  constructor(body: ReadableStream<Uint8Array> | null, { timeoutMs, deadlines }: ArrivalOptions) {
    this.reader = body?.getReader() ?? null;
    this.patienceMs = timeoutMs;
    this.deadlines = deadlines;
  }

  /** The bytes before the mark; the mark is consumed too. Rejects when it does not occur within `bytesMax`. */
  async upTo(mark: Uint8Array, bytesMax: number): Promise<Uint8Array> {
    for (;;) {
      const at = indexOf(this.rest, mark);
      if (at >= 0 && at <= bytesMax) return this.take(at, mark.length);
      if (this.rest.length > bytesMax) throw invalidPayload("The multipart body is malformed");
      await this.more();
    }
  }

  /** Like `upTo`, but as a stream, for long content. */
  async *piecesUpTo(mark: Uint8Array): AsyncGenerator<Uint8Array> {
    // The line end before the mark belongs to the mark, even when the file is empty.
    for (;;) {
      const at = indexOf(this.rest, mark);
      if (at >= 0) {
        const last = this.take(at, mark.length);
        if (last.length > 0) yield last;
        return;
      }
      const sure = this.rest.length - mark.length;
      if (sure > 0) yield this.take(sure, 0);
      await this.more();
    }
  }

  /** Whether these bytes come next; if so, they are consumed. */
  async startsWith(bytes: Uint8Array): Promise<boolean> {
    while (this.rest.length < bytes.length) await this.more();
    if (!isStart(this.rest, bytes)) return false;
    this.take(0, bytes.length);
    return true;
  }

  /** Reads the rest, and rejects when it is longer than `bytesMax`. */
  async toEnd(bytesMax: number): Promise<void> {
    let size = this.rest.length;
    let piece: Uint8Array | null = this.rest;
    while (piece && size <= bytesMax) {
      piece = await this.next();
      size += piece?.length ?? 0;
    }
    if (piece) throw invalidPayload("The multipart body is malformed");
  }

  /** Not awaited: if the client stopped sending, cancelling would wait for the pending read. */
  cancel(): void {
    void this.reader?.cancel().catch(() => undefined);
  }

  private take(length: number, skipped: number): Uint8Array {
    const taken = this.rest.subarray(0, length);
    this.rest = this.rest.subarray(length + skipped);
    return taken;
  }

  private async more(): Promise<void> {
    const piece = await this.next();
    if (!piece) throw invalidPayload("The multipart body is incomplete");
    const joined = new Uint8Array(this.rest.length + piece.length);
    joined.set(this.rest);
    joined.set(piece, this.rest.length);
    this.rest = joined;
  }

  /** Null at the end. */
  private async next(): Promise<Uint8Array | null> {
    if (!this.reader) return null;
    const askedAtMs = performance.now();
    const { patienceMs: timeoutMs, deadlines } = this;
    const step = await arrival(this.reader.read(), { timeoutMs, deadlines });
    this.patienceMs -= performance.now() - askedAtMs;
    return step.value ?? null;
  }
}

/**
 * -1 when the bytes do not contain the mark. The search of `Buffer`, which every runtime has, stays fast when the bytes
 * often look like the beginning of the mark; a loop took half a second for 9 MB of line ends.
 */
const indexOf = ({ buffer, byteOffset, byteLength }: Uint8Array, mark: Uint8Array): number =>
  Buffer.from(buffer, byteOffset, byteLength).indexOf(mark);

const isStart = (bytes: Uint8Array, start: Uint8Array): boolean =>
  start.every((byte, at) => bytes[at] === byte);
