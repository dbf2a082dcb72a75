/** The credentials of a project as security schemes, and which of them an operation needs. */
import type { Caller } from "../plans/caller.ts";
import type { Json } from "../values/json.ts";
import type { Credentials, SignIn } from "./traits.ts";

/** `takesBasic`: an API key may be the password of Basic authentication. */
type TakenCredentials = Credentials & { readonly takesBasic?: boolean };

/** Of `components`, by name: those that any of the projects takes. */
export function securitySchemes(all: readonly (TakenCredentials | null)[]): Record<string, Json> {
  const takesApiKeys = all.some((one) => one?.takesApiKeys);
  const takesBasic = all.some((one) => one?.takesApiKeys && one.takesBasic);
  const takesTokens = all.some((one) => one?.takesTokens);
  return {
    ...(takesApiKeys && { apiKey: { type: "apiKey", in: "header", name: "X-Api-Key" } }),
    ...(takesBasic && { basic: { type: "http", scheme: "basic" } }),
    ...(takesTokens && { bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" } }),
    ...signInSchemes(all.flatMap((one) => one?.signIn ?? [])),
  };
}

/** The places where people get a token, each once. */
function signInSchemes(places: readonly SignIn[]): Record<string, Json> {
  const schemes = places.map(({ issuer, clientId, scope }) => ({
    type: "openIdConnect",
    openIdConnectUrl: `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`,
    "x-client-id": clientId,
    "x-scope": scope,
  }));
  const distinct = new Map(schemes.map((scheme) => [JSON.stringify(scheme), scheme]));
  return Object.fromEntries(
    [...distinct.values()].map((scheme, at) => [at === 0 ? "openId" : `openId${at + 1}`, scheme]),
  );
}

/** The member `security` of an operation: one of these is enough. Absent if no credentials are required. */
export function securityOf(
  credentials: TakenCredentials | null,
  isFor: (caller: Caller) => boolean,
): { readonly security?: Json } {
  if (credentials === null) return {};
  const { takesApiKeys, takesTokens, anonymous, takesBasic = false } = credentials;
  const isForEverybody = anonymous !== null && isFor(anonymous);
  return {
    security: [
      ...(takesApiKeys ? [{ apiKey: [] }] : []),
      ...(takesApiKeys && takesBasic ? [{ basic: [] }] : []),
      ...(takesTokens ? [{ bearer: [] }] : []),
      ...(isForEverybody ? [{}] : []),
    ],
  };
}
