/**
 * What the configuration lets a caller see and touch: rows as a scope, columns as names. `core/bind.ts` asks once for each call; no action
 * asks at all.
 */
import type { Entity } from "../plans/entity.ts";
import type { Caller } from "../plans/caller.ts";
import { type Scope, wholeScope } from "./scope.ts";

/** Columns that a caller does not get, of one entity. */
export interface FieldRights {
  /** Equal for equal rights: one view of the entity is compiled for each. Empty: nothing is kept from the caller. */
  readonly key: string;
  /** Never shown, filtered, sorted, searched or aggregated. */
  readonly hidden: ReadonlySet<string>;
  /** Never written. */
  readonly readOnly: ReadonlySet<string>;
  /** By identity: other tables of which the caller does not get everything that their endpoints show. */
  readonly tables: ReadonlyMap<string, TableRights>;
}

/** What a caller gets of a table that its endpoints share. */
export interface TableRights {
  /** Endpoints that the caller may read, with the columns that each keeps from it. */
  readonly endpoints: ReadonlyMap<string, ReadonlySet<string>>;
  /** Columns that all of those keep from it. */
  readonly hidden: ReadonlySet<string>;
}

/** What is asked about. */
export interface Asked {
  readonly entity: Entity;
  /** The action's name, as in the URL. */
  readonly action: string;
}

export interface Access {
  mayUse(caller: Caller, asked: Asked): boolean;
  /** Whether the caller may look at, fetch and end the jobs that others started with this action. */
  mayReachAllJobs(caller: Caller, asked: Asked): boolean;
  scopeOf(caller: Caller, asked: Asked): Scope;
  /** Depends on the caller's roles alone, and has few different answers for each entity. */
  fieldsOf(caller: Caller, asked: Asked): FieldRights;
}

/** All fields. */
export const allFields: FieldRights = Object.freeze({
  key: "",
  hidden: new Set<string>(),
  readOnly: new Set<string>(),
  tables: new Map<string, TableRights>(),
});

/** Everybody sees and touches everything: a project without access rules. */
export const openAccess: Access = Object.freeze({
  mayUse: () => true,
  mayReachAllJobs: () => false,
  scopeOf: () => wholeScope,
  fieldsOf: () => allFields,
});
