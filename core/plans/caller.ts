/**
 * Who makes a request, or made the request that a job belongs to. Every call and every job has a caller. Only
 * `access.ts` derives from it what the caller may see and touch.
 */
import { copyOfJson, isObject, type Json } from "../values/json.ts";

export interface Caller {
  /** `nobody`: the project requires no credentials. `anonymous`: it does, and the request has none. */
  readonly kind: "nobody" | "anonymous" | "key" | "token";
  /** Of the API key, or the subject of the token; never empty. Null for `nobody` and `anonymous`. */
  readonly id: string | null;
  readonly roles: readonly string[];
  /** Numbers among them that a double would change are `ExactNumber`s. */
  readonly claims: Readonly<Record<string, Json>>;
}

/**
 * A caller as a job stores it. The claims are JSON text, because queues, files and threads round numbers of many
 * digits. Jobs of an earlier version hold the claims themselves.
 */
export type KeptCaller = Omit<Caller, "claims"> & { readonly claims: string | Caller["claims"] };

/** The caller of a project without credentials. */
export const nobody: Caller = Object.freeze({ kind: "nobody", id: null, roles: [], claims: {} });

/** A caller as handlers know it. */
export interface User {
  readonly id: string | null;
  readonly roles: readonly string[];
  readonly claims: Readonly<Record<string, Json>>;
}

/** Null if the project requires no credentials. A copy, so handlers can change it. */
export const userOf = ({ kind, id, roles, claims }: Caller): User | null =>
  kind === "nobody" ? null : copyOfJson({ id, roles: [...roles], claims });

/**
 * The claim with exactly this name (some issuers use URLs, which contain dots), otherwise the one that a path such as
 * `realm.tenant` leads to. Undefined if there is none.
 */
export function claimAt(claims: Caller["claims"], path: string): Json | undefined {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: Json | undefined = claims;
  for (const name of path.split("."))
    value = isObject(value) && Object.hasOwn(value, name) ? (value[name] as Json) : undefined;
  return value;
}

/**
 * The claims that the database's own rules see (`database.claimsSetting`). `sub` is the id (null if none) and `roles`
 * the roles of the caller: both replace claims of these names.
 */
export const claimsOf = ({ id, roles, claims }: Caller): Readonly<Record<string, Json>> => ({
  ...claims,
  sub: id,
  roles: [...roles],
});

/** The caller's name in keys and owners: equal only for equal callers. Null for `nobody`. */
export const identityOf = ({ kind, id }: Caller): string | null =>
  kind === "nobody" ? null : `${kind}:${id ?? ""}`;

/**
 * The name under which limits per caller count a request: the caller's identity, or the client's address if it has
 * none. `address` null: unknown; all such requests share one name.
 */
export const shareOf = (caller: Caller, address: string | null): string =>
  caller.id === null ? `address:${address ?? ""}` : identityOf(caller)!;

/** For whom the statements of a session are sent. */
export interface Asking {
  /** For the database's own rules; absent: the service itself. */
  readonly caller?: Caller;
  /** Whose share of the connections it uses, as `shareOf` names it; absent: no limit. */
  readonly share?: () => string;
  /** Ends what the session reads just then. */
  readonly signal?: AbortSignal;
  /**
   * The request only reads, and may do so on a replica that has all writes which were acknowledged. Resolves with a text
   * that changes with each of them, or with null if it cannot be known. Absent: it reads where writes go.
   */
  readonly acknowledged?: () => Promise<string | null>;
}
