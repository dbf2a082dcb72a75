/** Reads a request's JSON body: its media type, its size, its encoding, then `parseJson`. Called by `app/routes.ts`. */
import { AppError, invalidPayload } from "../core/errors.ts";
import { parseJson } from "../core/json.ts";

/**
 * The parsed body; undefined when there is none.
 * Rejects with 415 (not JSON, or compressed), 413 (more than `bytesMax`) or 400 (not UTF-8, not JSON, too deep, NUL).
 */
export async function readBody(request: Request, bytesMax: number): Promise<unknown> {
  checkMediaType(request.headers);
  const bytes = await readBytes(request, bytesMax);
  if (bytes.byteLength === 0) return undefined;
  if (!request.headers.has("content-type")) throw unsupported();
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw invalidPayload("The body is not valid UTF-8");
  }
  return text.trim() === "" ? undefined : parseJson(text);
}

const decoder = new TextDecoder("utf-8", { fatal: true });

function checkMediaType(headers: Headers): void {
  const [type = ""] = (headers.get("content-type") ?? "application/json").split(";", 1);
  if (type.trim().toLowerCase() !== "application/json") throw unsupported();
  // A small compressed body may unpack to any size; no client of an API needs it.
  if ((headers.get("content-encoding") ?? "identity") !== "identity") {
    throw new AppError("unsupportedMediaType", "A compressed body is not accepted");
  }
}

const unsupported = () => new AppError("unsupportedMediaType", "Send the body as application/json");

async function readBytes(request: Request, bytesMax: number): Promise<Uint8Array> {
  const announced = request.headers.get("content-length");
  if (announced !== null && Number(announced) > bytesMax) throw tooLarge(bytesMax);
  // The HTTP parser holds a client to the length that it announced, so the whole may be taken at once.
  if (announced !== null) return checked(new Uint8Array(await request.arrayBuffer()), bytesMax);
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

/** Not every way to call the app goes through such a parser. */
function checked(bytes: Uint8Array, bytesMax: number): Uint8Array {
  if (bytes.byteLength > bytesMax) throw tooLarge(bytesMax);
  return bytes;
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
