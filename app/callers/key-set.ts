/**
 * The keys that an issuer publishes (JWKS). They are fetched when first needed, when they are old, and when a token
 * names an unknown key. If the issuer does not answer, the last keys that were fetched stay valid.
 */
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import type { Log } from "../../core/plans/log-port.ts";
import type { Outbound } from "../../core/plans/outbound-port.ts";
import { unavailable } from "../../core/values/errors.ts";
import { isObject } from "../../core/values/json.ts";
import { limits } from "../../core/values/limits.ts";

/** The known keys of an issuer, as plain data, which requests can share even where they share no connections. */
export interface KnownKeys {
  find: JWTVerifyGetKey | null;
  fetchedMs: number;
  triedMs: number;
}

export const noKeysYet = (): KnownKeys => ({
  find: null,
  fetchedMs: -Infinity,
  triedMs: -Infinity,
});

export interface KeySetOptions {
  readonly url: string;
  readonly outbound: Outbound;
  readonly log: Log;
  /** Milliseconds of a clock that only goes forward. */
  readonly nowMs: () => number;
  readonly known: KnownKeys;
}

/** Finds a token's key. Rejects with `unavailable` if no set was ever fetched, or as `jose` does for an unknown key. */
export function createKeySet({ url, outbound, log, nowMs, known }: KeySetOptions): JWTVerifyGetKey {
  let fetching: Promise<void> | null = null;

  /** Runs one fetch at a time, with a pause between fetches. A failure keeps the keys that are known. */
  function refresh(): Promise<void> {
    if (fetching) return fetching;
    if (nowMs() - known.triedMs < limits.keySetPauseMs) return Promise.resolve();
    // Where requests share no connections, each of the first ones fetches for itself: none can wait for another's.
    if (known.find !== null) known.triedMs = nowMs();
    fetching = fetchKeySet(url, outbound)
      .then((keys) => {
        known.find = createLocalJWKSet(keys);
        known.fetchedMs = nowMs();
      })
      .catch((error: unknown) => {
        log.warn({ err: error }, "The signing keys of the token issuer could not be fetched");
      })
      .finally(() => {
        known.triedMs = nowMs();
        fetching = null;
      });
    return fetching;
  }

  return async (header, token) => {
    if (known.find === null) await refresh();
    // Old keys stay valid while newer ones are fetched.
    else if (nowMs() - known.fetchedMs > limits.keySetFreshMs) void refresh();
    const { find } = known;
    if (find === null)
      throw unavailable("The signing keys of the token issuer cannot be fetched; try again later");
    try {
      return await find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      // The issuer could have begun to use a new key.
      await refresh();
      return known.find!(header, token);
    }
  };
}

async function fetchKeySet(url: string, outbound: Outbound): Promise<JSONWebKeySet> {
  const { status, text } = await outbound.send({
    method: "GET",
    url,
    headers: { Accept: "application/json" },
    body: null,
    timeoutMs: limits.keySetTimeoutMs,
  });
  if (status !== 200) throw new Error(`The token issuer answered with status ${status}`);
  const keys: unknown = JSON.parse(text);
  if (!isObject(keys) || !Array.isArray(keys["keys"]))
    throw new Error("The answer is not a JSON Web Key Set");
  return keys as unknown as JSONWebKeySet;
}
