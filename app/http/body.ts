/** Reads a request body: checks media type, size and encoding, then calls `parseJson` or `parseForm`. */
import { AppError, invalidPayload } from "../../core/values/errors.ts";
import { parseJson } from "../../core/values/json.ts";
import { arrival } from "./arrival.ts";
import { parseForm } from "./form.ts";

export interface BodyOptions {
  readonly bytesMax: number;
  /** How long the client may take to send it. */
  readonly timeoutMs: number;
  /** True: form encoding is accepted too. */
  readonly takesForm: boolean;
}

/**
 * The parsed body; undefined when there is none. Rejects with 415 (unsupported media type), 413 (more than `bytesMax`),
 * 408 (not received in time), `clientClosed`, or 400 (not UTF-8, not JSON, too deep, NUL).
 */
export async function readBody(
  request: Request,
  { bytesMax, timeoutMs, takesForm }: BodyOptions,
): Promise<unknown> {
  const type = request.headers.get("content-type");
  const isForm =
    takesForm && type !== null && essenceOf(type) === "application/x-www-form-urlencoded";
  if (type !== null && !isForm && !isJson(type)) throw unsupported();
  const bytes = await arrival(readBytes(request, bytesMax), timeoutMs);
  if (bytes.byteLength === 0) return undefined;
  if (type === null) throw unsupported();
  const text = decode(bytes);
  if (text.trim() === "") return undefined;
  // DataTables 3 can send JSON with the media type of a form.
  return isForm && !text.trimStart().startsWith("{") ? parseForm(text) : parseJson(text);
}

function isJson(type: string): boolean {
  return type === "application/json" || essenceOf(type) === "application/json";
}

/** The media type without its parameters. */
function essenceOf(type: string): string {
  const [essence = ""] = type.split(";", 1);
  return essence.trim().toLowerCase();
}

const unsupported = () => new AppError("unsupportedMediaType", "Send the body as application/json");

const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Compressed bodies fail here too. The service never decompresses bodies, so that a small body cannot become a large
 * one.
 */
function decode(bytes: Uint8Array | ArrayBuffer): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw invalidPayload("The body is not valid UTF-8");
  }
}

async function readBytes(request: Request, bytesMax: number): Promise<Uint8Array | ArrayBuffer> {
  const announced = request.headers.get("content-length");
  if (announced === null) return readChunks(request, bytesMax);
  if (Number(announced) > bytesMax) throw tooLarge(bytesMax);
  // The HTTP parser enforces the announced length, so the whole body can be read at once.
  const bytes = await request.arrayBuffer();
  // Not every caller of the app uses such a parser.
  if (bytes.byteLength > bytesMax) throw tooLarge(bytesMax);
  return bytes;
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
  return joined(chunks, size);
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}

const tooLarge = (bytesMax: number) =>
  new AppError("payloadTooLarge", `The body must have at most ${bytesMax} bytes`);
