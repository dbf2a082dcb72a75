/**
 * Who makes a request, or made the request that a job goes back to. Every call and every job has one; what a caller may see and touch
 * follows from it in `access.ts`, and nowhere else.
 */
import type { Json } from "../values/json.ts";

export interface Caller {
  /** `nobody`: the project asks for no credentials. `anonymous`: it does, and the request came without. */
  readonly kind: "nobody" | "anonymous" | "key" | "token";
  /** Of the API key, or the subject of the token; null where the caller has none. */
  readonly id: string | null;
  readonly roles: readonly string[];
  readonly claims: Readonly<Record<string, Json>>;
}

/** The caller of a project without credentials. */
export const nobody: Caller = Object.freeze({ kind: "nobody", id: null, roles: [], claims: {} });

/** A caller as handlers know it. */
export interface User {
  readonly id: string | null;
  readonly roles: readonly string[];
  readonly claims: Readonly<Record<string, Json>>;
}

/** Null where the project asks for no credentials. A copy: handlers may do with it what they like. */
export const userOf = ({ kind, id, roles, claims }: Caller): User | null =>
  kind === "nobody" ? null : structuredClone({ id, roles, claims });

/**
 * The caller as the database's own rules see it (`database.claimsSetting`): its claims, with `sub`, null where it has no id, and `roles`, which are
 * the caller's own whatever a claim of that name says.
 */
export const claimsOf = ({ id, roles, claims }: Caller): Readonly<Record<string, Json>> => ({
  ...claims,
  sub: id,
  roles: [...roles],
});

/** What a caller is called in keys and owners: equal for equal callers alone. Null for nobody. */
export const identityOf = ({ kind, id }: Caller): string | null =>
  kind === "nobody" ? null : `${kind}:${id ?? ""}`;

/**
 * Whose share of what is limited for each caller a request takes: the caller's own, or, where it has no name, that of everybody at the
 * client's address. `address` null: it is not known, and all of those share one.
 */
export const shareOf = (caller: Caller, address: string | null): string =>
  caller.id === null ? `address:${address ?? ""}` : identityOf(caller)!;
