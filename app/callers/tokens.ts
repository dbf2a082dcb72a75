/** Checks bearer tokens (JWT) with a shared secret or the issuer's published keys. Their algorithms are configured. */
import { base64url, errors, jwtVerify, type JWTVerifyGetKey, type JWTVerifyOptions } from "jose";
import type { AuthSettings } from "../../core/config/reading/project-schema.ts";
import { type Caller, claimAt } from "../../core/plans/caller.ts";
import { AppError } from "../../core/values/errors.ts";
import { ExactNumber, type Json, parseOwnJson } from "../../core/values/json.ts";
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
    requiredClaims: ["exp"],
    ...(jwt.issuer !== undefined && { issuer: jwt.issuer }),
    ...(jwt.audience !== undefined && { audience: jwt.audience }),
  };
  const secret = jwt.secret === undefined ? null : new TextEncoder().encode(jwt.secret);
  const known = new Map<string, KnownToken>();

  async function check(token: string): Promise<KnownToken | null> {
    try {
      const { exp, nbf, iat } = (
        keySet ? await verifiedBy(keySet, token, options) : await jwtVerify(token, secret!, options)
      ).payload;
      // The library takes 1e999, which JSON.parse makes infinite, for a number: such a token would never end.
      if (![exp, nbf, iat].every((time) => time === undefined || Number.isFinite(time)))
        return null;
      const caller = callerOf(claimsIn(token), jwt);
      const untilMs = Math.min(exp! * 1_000, Date.now() + limits.tokenKeptMs);
      return caller && { caller, untilMs };
    } catch (error) {
      if (error instanceof errors.JOSEError) return null;
      if (error instanceof AppError) throw error;
      // A token whose parts are not JSON, or a key that does not fit its algorithm.
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

/** While an issuer changes its keys it publishes several, and a token need not name its own: then each is tried. */
async function verifiedBy(keySet: JWTVerifyGetKey, token: string, options: JWTVerifyOptions) {
  try {
    return await jwtVerify(token, keySet, options);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      const verified = await jwtVerify(token, key, options).catch((refusal: unknown) => {
        if (!(refusal instanceof errors.JWSSignatureVerificationFailed)) throw refusal;
      });
      if (verified) return verified;
    }
    throw error;
  }
}

/** A token that was checked recently. */
interface KnownToken {
  readonly caller: Caller;
  /** Milliseconds since 1970. */
  readonly untilMs: number;
}

const tokenLengthMax = 16_384;

/** Algorithms that issuers use today. None uses a shared secret, so a published key cannot be taken for a secret. */
const publicAlgorithms: readonly string[] = ["RS256", "PS256", "ES256", "ES384", "EdDSA"];

/** The claims of a verified token, with every digit of their numbers; the library's own parser rounds them. */
const claimsIn = (token: string): Record<string, Json> =>
  parseOwnJson(new TextDecoder().decode(base64url.decode(token.split(".")[1]!))) as Record<
    string,
    Json
  >;

/** Null for a token that names no user: all such tokens would be one caller, with shared jobs and answers. */
function callerOf(
  claims: Record<string, Json>,
  { subjectClaim, rolesClaim }: Pick<JwtSettings, "subjectClaim" | "rolesClaim">,
): Caller | null {
  const id = subjectIn(claims, subjectClaim);
  if (id === null || id === "" || textFault(id) !== null) return null;
  return Object.freeze({ kind: "token", id, roles: rolesOf(claims, rolesClaim), claims });
}

/** A text. Claims that issuers define can be numbers, but `sub` is a text by its standard (RFC 7519). */
function subjectIn(claims: Record<string, Json>, path: string): string | null {
  const value = claimAt(claims, path);
  if (typeof value === "string") return value;
  const isWhole = Number.isSafeInteger(value) || value instanceof ExactNumber;
  return isWhole && path !== "sub" && /^\d+$/.test(String(value)) ? String(value) : null;
}

/** A list of texts, or one text with spaces between roles; other values give no roles. */
function rolesOf(claims: Record<string, Json>, path: string): readonly string[] {
  const value = claimAt(claims, path);
  if (typeof value === "string") return value.split(/\s+/).filter((role) => role !== "");
  return Array.isArray(value) ? value.filter((role) => typeof role === "string") : [];
}
