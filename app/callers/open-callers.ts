/**
 * Who sends a request to a project with `auth`: an API key in `X-Api-Key`, a token in `Authorization: Bearer`, or nobody that is known. Missing,
 * wrong and expired credentials get the same answer.
 */
import type { Callers } from "../../core/callers/callers.ts";
import { openToAll } from "../../core/callers/callers.ts";
import type { AuthSettings } from "../../core/config/project-schema.ts";
import type { Caller } from "../../core/plans/caller.ts";
import type { Log, Outbound } from "../../core/plans/ports.ts";
import { unauthorized } from "../../core/values/errors.ts";
import { createKeyFinder } from "./api-keys.ts";
import { createKeySet, type KnownKeys, noKeysYet } from "./key-set.ts";
import { createTokenReader } from "./tokens.ts";

export interface CallersDeps {
  /** SHA-256 as hexadecimal text. */
  readonly digest: (text: string) => string;
  /** For the keys of an issuer. */
  readonly outbound: Outbound;
  readonly log: Log;
  /** Of an earlier opening of the same project; absent: none are known yet. */
  readonly knownKeys?: KnownKeys;
}

/** `auth` absent or empty: everybody is let in, and nobody is asked. */
export function openCallers(
  auth: AuthSettings | undefined,
  { digest, outbound, log, knownKeys = noKeysYet() }: CallersDeps,
): Callers {
  if (auth === undefined || Object.keys(auth).length === 0) return openToAll;
  const { apiKeys = [], jwt, anonymous } = auth;
  const findKey = createKeyFinder(apiKeys, digest);
  const nowMs = (): number => performance.now();
  const keySet =
    jwt?.jwksUri === undefined
      ? null
      : createKeySet({ url: jwt.jwksUri, outbound, log, nowMs, known: knownKeys });
  const findToken = jwt ? createTokenReader(jwt, keySet) : null;
  const stranger: Caller | null =
    anonymous === undefined
      ? null
      : Object.freeze({ kind: "anonymous", id: null, roles: anonymous.roles, claims: {} });

  return {
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

const knownOr401 = (caller: Caller | null): Caller => caller ?? refuse();

function refuse(): never {
  throw unauthorized("Credentials are missing or invalid");
}
