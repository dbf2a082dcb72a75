/**
 * What the configuration allows a caller to read and write: rows as a scope, columns as names. `core/bind.ts` asks once
 * per call; actions never ask.
 */
import type { Entity } from "../plans/entity.ts";
import { type Caller, claimsOf } from "../plans/caller.ts";
import { type Scope, wholeScope } from "./scope.ts";

/** The columns of one entity that a caller may not read or write. */
export interface FieldRights {
  /** Equal for equal rights; one view of the entity is compiled for each key. Empty: the caller has all rights. */
  readonly key: string;
  /** Never shown, filtered, sorted, searched or aggregated. */
  readonly hidden: ReadonlySet<string>;
  /** Never written. */
  readonly readOnly: ReadonlySet<string>;
  /** By identity: other tables that the caller may read only in part. */
  readonly tables: ReadonlyMap<string, TableRights>;
  /**
   * By endpoint that relations lead to: the columns that the caller does not see there. Endpoints that it may not read
   * are missing; `wholeRelated`: it sees all of them.
   */
  readonly related: ReadonlyMap<string, ReadonlySet<string>>;
}

/** All columns of all endpoints that relations lead to. */
export const wholeRelated: FieldRights["related"] = new Map();

/** The columns that a caller may read of a table through its endpoints. */
export interface TableRights {
  /** Endpoints that the caller may read, with the columns that each hides from it. */
  readonly endpoints: ReadonlyMap<string, ReadonlySet<string>>;
  /** Columns that all of those endpoints hide. */
  readonly hidden: ReadonlySet<string>;
}

/** The action and entity of a question about access. */
export interface Asked {
  readonly entity: Entity;
  /** The action's name, as in the URL. */
  readonly action: string;
}

export interface Access {
  mayUse(caller: Caller, asked: Asked): boolean;
  /** Whether the caller may see, download and cancel the jobs that others started with this action. */
  mayReachAllJobs(caller: Caller, asked: Asked): boolean;
  scopeOf(caller: Caller, asked: Asked): Scope;
  /** Depends only on the caller's roles, and has few different answers for each entity. */
  fieldsOf(caller: Caller, asked: Asked): FieldRights;
  /** Equal for callers with equal results of `mayUse` and `fieldsOf`; it has few different values. */
  rightsKeyOf(caller: Caller): string;
}

/** All fields. */
export const allFields: FieldRights = Object.freeze({
  key: "",
  hidden: new Set<string>(),
  readOnly: new Set<string>(),
  tables: new Map<string, TableRights>(),
  related: wholeRelated,
});

/** Every caller may do everything: a project without access rules. */
export const openAccess: Access = Object.freeze({
  mayUse: () => true,
  mayReachAllJobs: () => false,
  scopeOf: () => wholeScope,
  fieldsOf: () => allFields,
  rightsKeyOf: () => "",
});

/**
 * Access for a project whose database has its own rules by the caller's claims (row-level security). The caller may see
 * fewer rows than its scope says, and the service does not know which.
 *
 * The same access, with scopes that are never whole and that callers with different claims never share. So stored
 * answers, locks and replays query the database as this caller.
 */
export const underPolicies = (access: Access): Access => ({
  ...access,
  scopeOf(caller, asked) {
    const scope = access.scopeOf(caller, asked);
    const key = JSON.stringify([scope.key, claimsOf(caller)]);
    return { ...scope, isWhole: false, key };
  },
});
