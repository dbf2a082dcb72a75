/**
 * What the configuration allows a caller to read and write: rows as a scope, columns as names. `core/bind.ts` asks once
 * per call; actions never ask.
 */
import type { Entity } from "../plans/entity.ts";
import type { Caller } from "../plans/caller.ts";
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
}

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
  /** Depends on the caller's roles alone, and has few different answers for each entity. */
  fieldsOf(caller: Caller, asked: Asked): FieldRights;
  /** Equal for callers to whom `mayUse` and `fieldsOf` say the same of everything; it has few different values. */
  rightsKeyOf(caller: Caller): string;
}

/** All fields. */
export const allFields: FieldRights = Object.freeze({
  key: "",
  hidden: new Set<string>(),
  readOnly: new Set<string>(),
  tables: new Map<string, TableRights>(),
});

/** Every caller may do everything: a project without access rules. */
export const openAccess: Access = Object.freeze({
  mayUse: () => true,
  mayReachAllJobs: () => false,
  scopeOf: () => wholeScope,
  fieldsOf: () => allFields,
  rightsKeyOf: () => "",
});
