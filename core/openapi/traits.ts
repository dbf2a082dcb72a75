/** The project's settings for all of its requests, as far as a document shows them. */
import type { ProjectSettings, RateLimitSettings } from "../config/reading/project-schema.ts";
import type { Caller } from "../plans/caller.ts";

export interface ProjectTraits {
  /** Null: the project requires no credentials. */
  readonly credentials: Credentials | null;
  /** Null: requests are not limited. */
  readonly rateLimit: RateLimitSettings | null;
}

/** The kinds of credentials that a project takes. */
export interface Credentials {
  readonly takesApiKeys: boolean;
  readonly takesTokens: boolean;
  /** Where people sign in for a token; null: not known. */
  readonly signIn: SignIn | null;
  /** Who sends none; null: such requests are refused. */
  readonly anonymous: Caller | null;
}

/** An OpenID Connect provider, and who the console is there. */
export interface SignIn {
  readonly issuer: string;
  readonly clientId: string;
  readonly scope: string;
}

/** The origins that the console calls to sign a user in. */
export function signInOriginsOf(auth: ProjectSettings["auth"]): string[] {
  const { clientId, issuer, jwksUri } = auth?.jwt ?? {};
  if (clientId === undefined) return [];
  return [issuer, jwksUri].flatMap((url) => (url === undefined ? [] : new URL(url).origin));
}

export function traitsOf({ auth, rateLimit }: ProjectSettings): ProjectTraits {
  const isOpen = auth === undefined || Object.keys(auth).length === 0;
  return { credentials: isOpen ? null : credentialsOf(auth), rateLimit: rateLimit ?? null };
}

const credentialsOf = ({
  apiKeys = [],
  jwt,
  anonymous,
}: NonNullable<ProjectSettings["auth"]>): Credentials => ({
  takesApiKeys: apiKeys.length > 0,
  takesTokens: jwt !== undefined,
  signIn:
    jwt?.clientId !== undefined && jwt.issuer !== undefined
      ? { issuer: jwt.issuer, clientId: jwt.clientId, scope: jwt.scope ?? "openid profile" }
      : null,
  anonymous: anonymous ? { kind: "anonymous", id: null, roles: anonymous.roles, claims: {} } : null,
});

/** Whether a limit counts requests of this action. */
export const isLimited = ({ rateLimit }: ProjectTraits, action: string): boolean =>
  rateLimit !== null && (rateLimit.max !== undefined || Object.hasOwn(rateLimit.actions, action));
