/** What a project's settings say of all of its requests, as far as a document shows it. */
import type { ProjectSettings, RateLimitSettings } from "../config/project-schema.ts";
import type { Caller } from "../plans/caller.ts";

export interface ProjectTraits {
  /** Null: the project asks for no credentials. */
  readonly credentials: Credentials | null;
  /** Null: requests are not limited. */
  readonly rateLimit: RateLimitSettings | null;
}

/** The kinds of credentials that a project takes. */
export interface Credentials {
  readonly takesApiKeys: boolean;
  readonly takesTokens: boolean;
  /** Who sends none; null: such requests are refused. */
  readonly anonymous: Caller | null;
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
  anonymous: anonymous ? { kind: "anonymous", id: null, roles: anonymous.roles, claims: {} } : null,
});

/** Whether a limit counts requests of this action. */
export const isLimited = ({ rateLimit }: ProjectTraits, action: string): boolean =>
  rateLimit !== null && (rateLimit.max !== undefined || Object.hasOwn(rateLimit.actions, action));
