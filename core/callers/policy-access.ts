/**
 * Access for a project whose database has rules of its own by the caller's claims (row-level security): the caller may see fewer rows than its
 * scope says, and nobody here knows which.
 */
import { claimsOf } from "../plans/caller.ts";
import type { Access } from "./access.ts";

/**
 * The same access, with scopes that are never whole and that no two callers with different claims share: kept answers, locks and replays
 * then ask the database as this caller.
 */
export const underPolicies = (access: Access): Access => ({
  ...access,
  scopeOf(caller, asked) {
    const scope = access.scopeOf(caller, asked);
    const key = JSON.stringify([scope.key, claimsOf(caller)]);
    return { ...scope, isWhole: false, key };
  },
});
