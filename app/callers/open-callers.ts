/**
 * Identifies the sender of a request to a project with `auth`: by an API key in `X-Api-Key`, by a token in
 * `Authorization: Bearer`, or as an unknown caller. Missing, wrong and expired credentials get the same answer.
 */
import { type Callers, openToAll } from "../../core/callers/callers.ts";
import type { AuthSettings } from "../../core/config/reading/project-schema.ts";
import type { Caller } from "../../core/plans/caller.ts";
import type { Runtime } from "../../core/plans/runtime.ts";
import type { Outbound } from "../../core/plans/outbound-port.ts";
import { hostAndPort } from "../../core/values/addresses.ts";
import { unauthorized } from "../../core/values/errors.ts";
import { createKeySet, type KnownKeys, noKeysYet } from "./key-set.ts";
import { createTokenReader } from "./tokens.ts";

export interface CallersDeps extends Pick<Runtime, "digest" | "log"> {
  /** To fetch an issuer's keys: may call public addresses, and these hosts (`host:port`) even if they are private. */
  readonly outboundTo: (allowedHosts: readonly string[]) => Outbound;
  /** Keys that an earlier opening of the same project fetched; absent: none. */
  readonly knownKeys?: KnownKeys | undefined;
}

/** `auth` absent or empty: every request is let in without credentials. */
export function openCallers(
  auth: AuthSettings | undefined,
  { digest, outboundTo, log, knownKeys = noKeysYet() }: CallersDeps,
): Callers {
  if (auth === undefined || Object.keys(auth).length === 0) return openToAll;
  const { apiKeys = [], jwt, anonymous } = auth;
  const findKey = createKeyFinder(apiKeys, digest);
  const nowMs = (): number => performance.now();
  const keysFrom = (url: string) => {
    // The operator wrote the URL, so its host may be private.
    const outbound = outboundTo([hostAndPort(new URL(url))]);
    return createKeySet({ url, outbound, log, nowMs, known: knownKeys });
  };
  const keySet = jwt?.jwksUri === undefined ? null : keysFrom(jwt.jwksUri);
  const findToken = jwt ? createTokenReader(jwt, keySet) : null;
  const stranger: Caller | null =
    anonymous === undefined
      ? null
      : Object.freeze({ kind: "anonymous", id: null, roles: anonymous.roles, claims: {} });
  const configured = new Set(
    [...apiKeys.map(callerOfKey), stranger].map((one) => JSON.stringify(one)),
  );

  return {
    knows: (caller) =>
      caller.kind === "token" ? findToken !== null : configured.has(JSON.stringify(caller)),
    authenticate(headers) {
      const key = headers.get("x-api-key");
      if (key !== null) return knownOr401(findKey(key));
      const authorization = headers.get("authorization");
      if (authorization === null) return stranger ?? refuse();
      const [, token] = /^Bearer +([^\s]+) *$/i.exec(authorization) ?? [];
      if (token === undefined || findToken === null) return refuse();
      return findToken(token).then(knownOr401);
    },
  };
}

type ApiKey = NonNullable<AuthSettings["apiKeys"]>[number];

const callerOfKey = ({ id, roles, claims }: ApiKey): Caller =>
  Object.freeze({ kind: "key", id, roles, claims });

const knownOr401 = (caller: Caller | null): Caller => caller ?? refuse();

function refuse(): never {
  throw unauthorized("Credentials are missing or invalid");
}

/** The caller with this key; null if there is none. Takes the same time for nearly right keys as for any other. */
export type FindKey = (key: string) => Caller | null;

/**
 * The configuration contains only the hashes of keys, so reading it does not reveal a usable one. `digest`: SHA-256 as
 * hexadecimal text.
 */
export function createKeyFinder(
  apiKeys: readonly ApiKey[],
  digest: (text: string) => string,
): FindKey {
  const known = apiKeys.map((entry) => ({
    hash: bytesOf(entry.sha256),
    caller: callerOfKey(entry),
  }));
  return (key) => {
    if (key.length > keyLengthMax) return null;
    const asked = bytesOf(digest(key));
    let found: Caller | null = null;
    // Compares with every key in full, so that the time does not reveal where a comparison failed.
    for (const { hash, caller } of known) if (areEqual(hash, asked)) found = caller;
    return found;
  };
}

/** Longer headers are refused before they are hashed. */
const keyLengthMax = 1_024;

/** Every runtime has `Buffer`. */
const bytesOf = (hex: string): Uint8Array => Buffer.from(hex, "hex");

function areEqual(left: Uint8Array, right: Uint8Array): boolean {
  let difference = 0;
  for (let at = 0; at < left.length; at++) difference |= left[at]! ^ right[at]!;
  return difference === 0;
}
