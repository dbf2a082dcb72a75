/** Bearer tokens (JWT): checked with a shared secret or the issuer's published keys, by algorithms that the configuration pins. */
import {
  errors,
  jwtVerify,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
} from "jose";
import type { AuthSettings } from "../../core/config/project-schema.ts";
import type { Caller } from "../../core/plans/caller.ts";
import { AppError } from "../../core/values/errors.ts";
import { isObject, type Json } from "../../core/values/json.ts";
import { limits } from "../../core/values/limits.ts";
import { textFault } from "../../core/values/text.ts";

type JwtSettings = NonNullable<AuthSettings["jwt"]>;

/** The caller of a token; null for one that is wrong, expired, or not for this service. Rejects with `unavailable`. */
export type FindToken = (token: string) => Promise<Caller | null>;

/** `keySet`: null where the settings have a shared secret. */
export function createTokenReader(jwt: JwtSettings, keySet: JWTVerifyGetKey | null): FindToken {
  const options: JWTVerifyOptions = {
    algorithms: [...(jwt.algorithms ?? (keySet ? publicAlgorithms : ["HS256"]))],
    clockTolerance: limits.tokenSkewSeconds,
    ...(jwt.issuer !== undefined && { issuer: jwt.issuer }),
    ...(jwt.audience !== undefined && { audience: jwt.audience }),
  };
  const secret = jwt.secret === undefined ? null : new TextEncoder().encode(jwt.secret);
  const known = new Map<string, KnownToken>();

  async function check(token: string): Promise<KnownToken | null> {
    try {
      const { payload } = keySet
        ? await jwtVerify(token, keySet, options)
        : await jwtVerify(token, secret!, options);
      const caller = callerOf(payload, jwt.rolesClaim);
      const expiresMs = payload.exp === undefined ? Infinity : payload.exp * 1_000;
      const untilMs = Math.min(expiresMs, Date.now() + limits.tokenKeptMs);
      return caller && { caller, untilMs };
    } catch (error) {
      if (error instanceof errors.JOSEError) return null;
      if (error instanceof AppError) throw error;
      // A token whose parts are no JSON, or a key that does not fit its algorithm.
      return null;
    }
  }

  return async (token) => {
    if (token.length > tokenLengthMax) return null;
    const earlier = known.get(token);
    if (earlier && earlier.untilMs > Date.now()) return earlier.caller;
    known.delete(token);
    const found = await check(token);
    if (found === null) return null;
    if (known.size >= limits.tokensKeptMax) known.clear();
    known.set(token, found);
    return found.caller;
  };
}

/** A token that was checked a moment ago. */
interface KnownToken {
  readonly caller: Caller;
  /** Milliseconds since 1970. */
  readonly untilMs: number;
}

const tokenLengthMax = 16_384;

/** What issuers sign with today. A shared secret is never among them: a published key must not be taken for one. */
const publicAlgorithms: readonly string[] = ["RS256", "PS256", "ES256", "ES384", "EdDSA"];

function callerOf(payload: JWTPayload, rolesClaim: string): Caller | null {
  const claims = payload as Record<string, Json>;
  const { sub } = payload;
  if (sub !== undefined && (typeof sub !== "string" || textFault(sub) !== null)) return null;
  return Object.freeze({
    kind: "token",
    id: sub ?? null,
    roles: rolesOf(claims, rolesClaim),
    claims,
  });
}

/** A list of texts, or one text with blanks between; anything else is no role. */
function rolesOf(claims: Record<string, Json>, path: string): readonly string[] {
  let value: Json | undefined = Object.hasOwn(claims, path) ? claims[path] : claims;
  if (value === claims)
    for (const name of path.split(".")) {
      value = isObject(value) && Object.hasOwn(value, name) ? (value[name] as Json) : undefined;
    }
  if (typeof value === "string") return value.split(/\s+/).filter((role) => role !== "");
  return Array.isArray(value) ? value.filter((role) => typeof role === "string") : [];
}
