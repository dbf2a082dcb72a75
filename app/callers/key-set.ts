/**
 * The keys that an issuer publishes (JWKS), fetched when they are first needed, again when they are old, and again when a token names a key that
 * is not among them. An issuer that does not answer is no reason to refuse tokens whose keys are known: the last good set goes on counting.
 */
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import type { Log, Outbound } from "../../core/plans/ports.ts";
import { unavailable } from "../../core/values/errors.ts";
import { isObject } from "../../core/values/json.ts";
import { limits } from "../../core/values/limits.ts";

/** What is known of an issuer's keys: plain data, so that requests can share it where they share no calls. */
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

/** Finds the key of a token. Rejects with `unavailable` where no set was ever had, and as `jose` does for a key that is in none. */
export function createKeySet({ url, outbound, log, nowMs, known }: KeySetOptions): JWTVerifyGetKey {
  let fetching: Promise<void> | null = null;

  /** One fetch at a time, and not more often than the pause; a failure leaves what there is. */
  function refresh(): Promise<void> {
    if (fetching) return fetching;
    if (nowMs() - known.triedMs < limits.keySetPauseMs) return Promise.resolve();
    // Where requests share no calls, each of the first ones has to fetch for itself: none can wait for another's.
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
    // Old keys are good while newer ones are on their way.
    else if (nowMs() - known.fetchedMs > limits.keySetFreshMs) void refresh();
    const { find } = known;
    if (find === null)
      throw unavailable("The signing keys of the token issuer cannot be fetched; try again later");
    try {
      return await find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      // The issuer may have begun to use a new key.
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
