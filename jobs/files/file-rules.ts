/** Rules for files in any storage: their names and largest size. */
import { AppError } from "../../core/values/errors.ts";

const keyShape = /^(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

/** Whether a file can have the key: names of letters, digits, `.`, `-` and `_`, joined with `/`. */
export const isKey = (key: string): boolean => keyShape.test(key);

/** Returns the key. Throws for any other text, as a second check: the service makes keys, never a client. */
export function checkedKey(key: string): string {
  if (!isKey(key)) throw new Error(`Invalid file name ${JSON.stringify(key)}`);
  return key;
}

/** The same bytes; rejects with `payloadTooLarge` at the first one beyond `maxBytes`. */
export async function* limitedBytes(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.byteLength;
    if (size > maxBytes)
      throw new AppError("payloadTooLarge", `The file must have at most ${maxBytes} bytes`);
    yield chunk;
  }
}
