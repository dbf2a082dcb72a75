/** Reads a request body: checks media type, size and encoding, then calls `parseJson` or `parseForm`. */
import { AppError, invalidPayload } from "../../core/values/errors.ts";
import { isObject, parseJson } from "../../core/values/json.ts";
import { arrival, type ArrivalOptions } from "./arrival.ts";
import { nestNames, parseForm } from "./form.ts";
import type { HeaderFields, Incoming } from "./incoming.ts";

export interface BodyOptions extends ArrivalOptions {
  readonly bytesMax: number;
  /** True: form encoding is accepted too, and the names of forms in JSON. */
  readonly takesForm: boolean;
}

/**
 * The parsed body; undefined when there is none. Rejects with 415 (unsupported media type), 413 (more than `bytesMax`),
 * 408 (not received in time), `clientClosed`, or 400 (not UTF-8, not JSON, too deep, NUL).
 */
export async function readBody(
  incoming: Pick<Incoming, "headers" | "bytes">,
  { bytesMax, takesForm, ...waiting }: BodyOptions,
): Promise<unknown> {
  refuseCompressed(incoming.headers);
  const type = incoming.headers.get("content-type");
  const isForm =
    takesForm && type !== null && essenceOf(type) === "application/x-www-form-urlencoded";
  if (type !== null && !isForm && !isJson(type)) throw unsupported();
  const bytes = await arrival(incoming.bytes(bytesMax), waiting);
  if (bytes.byteLength === 0) return undefined;
  if (type === null) throw unsupported();
  const text = decode(bytes);
  if (text.trim() === "") return undefined;
  // DataTables 3 can send JSON with the media type of a form.
  if (isForm && !text.trimStart().startsWith("{")) return parseForm(text);
  const body = parseJson(text);
  return takesForm && isObject(body) ? nestNames(body) : body;
}

const isJson = (type: string): boolean =>
  type === "application/json" || essenceOf(type) === "application/json";

/** The media type without its parameters. */
function essenceOf(type: string): string {
  const [essence = ""] = type.split(";", 1);
  return essence.trim().toLowerCase();
}

const unsupported = () => new AppError("unsupportedMediaType", "Send the body as application/json");

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Rejects with 415: the service never decompresses bodies, so that a small body cannot become a large one. */
export function refuseCompressed(headers: HeaderFields): void {
  const coding = headers.get("content-encoding") ?? "";
  const [found] = /\b(?:gzip|compress|deflate|br|zstd)\b/i.exec(coding) ?? [];
  if (found === undefined) return;
  throw new AppError(
    "unsupportedMediaType",
    `The body is compressed with ${found}; send it without Content-Encoding`,
  );
}

function decode(bytes: Uint8Array | ArrayBuffer): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw invalidPayload("The body is not valid UTF-8");
  }
}
