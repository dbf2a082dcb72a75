/** API keys: the configuration has their SHA-256, so that nobody who reads it can use them. */
import type { Caller } from "../../core/plans/caller.ts";
import type { AuthSettings } from "../../core/config/project-schema.ts";

/** The caller whose key it is; null where there is no such key. Takes as long for a key that is nearly right as for any other. */
export type FindKey = (key: string) => Caller | null;

/** `digest`: SHA-256 as hexadecimal text. */
export function createKeyFinder(
  apiKeys: NonNullable<AuthSettings["apiKeys"]>,
  digest: (text: string) => string,
): FindKey {
  const known = apiKeys.map(({ id, sha256, roles, claims }) => ({
    hash: bytesOf(sha256),
    caller: Object.freeze({ kind: "key", id, roles, claims }) satisfies Caller,
  }));
  return (key) => {
    if (key.length > keyLengthMax) return null;
    const asked = bytesOf(digest(key));
    let found: Caller | null = null;
    // All of them, to the end: the time says nothing of where a comparison failed.
    for (const { hash, caller } of known) if (areEqual(hash, asked)) found = caller;
    return found;
  };
}

/** A header is at most this long before it is hashed. */
const keyLengthMax = 1_024;

/** `Buffer` is there on every runtime. */
const bytesOf = (hex: string): Uint8Array => Buffer.from(hex, "hex");

function areEqual(left: Uint8Array, right: Uint8Array): boolean {
  let difference = 0;
  for (let at = 0; at < left.length; at++) difference |= left[at]! ^ right[at]!;
  return difference === 0;
}
