/**
 * Compiles the access rules of a project's endpoints into the rights of each caller. Rights depend on roles and are
 * computed once per set of roles; scopes depend on claims, too. Both are also kept for each caller as long as it is
 * known, because every request asks for them several times.
 */
import { type AccessRules, everyRole, type RowRule } from "../plans/access-rules.ts";
import type { Caller } from "../plans/caller.ts";
import type { Entity } from "../plans/entity.ts";
import { limits } from "../values/limits.ts";
import {
  type Access,
  allFields,
  type Asked,
  type FieldRights,
  type TableRights,
  wholeRelated,
} from "./access.ts";
import { type Entities, readingsOf } from "./related-views.ts";
import { createRowScope, type ScopedLines, type ScopedTable } from "./row-scope.ts";
import { type Scope, wholeScope } from "./scope.ts";

/** What a set of roles may do with one action of one endpoint. */
interface Rights {
  readonly mayUse: boolean;
  readonly mayReachAllJobs: boolean;
  readonly fields: FieldRights;
  /** A row must match all rules of at least one member; null = all rows. */
  readonly rows: readonly (readonly RowRule[])[] | null;
  /** Other tables, by their identity. */
  readonly others: ReadonlyMap<string, ScopedTable>;
  /** Tables of the entity's details, by their identity; only those with lines that are hidden from the roles. */
  readonly lines: ReadonlyMap<string, ScopedLines>;
}

/** The rights of one caller, and its scope once it was computed. */
interface Granted {
  readonly rights: Rights;
  scope: Scope | null;
}

/** `entities`: all endpoints of the project, each with its access rules. */
export function createRoleAccess(entities: ReadonlyMap<string, Entity>): Access {
  const ofRoles = new Map<string, Rights>();
  // By the question itself: those of every request are made once, at the start.
  const ofCallers = new WeakMap<Caller, WeakMap<Asked, Granted>>();
  const known = knownRoles(entities);
  const byTable = endpointsByTable(entities);

  const countingRoles = (caller: Caller): string[] =>
    rolesOf(caller)
      .filter((role) => known.has(role))
      .toSorted();

  function rightsFor(caller: Caller, { entity, action }: Asked): Rights {
    const roles = countingRoles(caller);
    const key = JSON.stringify([entity.name, action, ...roles]);
    const found = ofRoles.get(key);
    if (found) return found;
    const rights = workOut(entities.get(entity.name) ?? entity, {
      action,
      roles,
      byTable,
      entities,
    });
    // Far more sets than a project has, but tokens could contain ever new ones.
    if (ofRoles.size >= limits.roleSetsMax) ofRoles.clear();
    ofRoles.set(key, rights);
    return rights;
  }

  function grantedTo(caller: Caller, asked: Asked): Granted {
    let all = ofCallers.get(caller);
    if (all === undefined) ofCallers.set(caller, (all = new WeakMap()));
    let granted = all.get(asked);
    if (granted === undefined) {
      granted = { rights: rightsFor(caller, asked), scope: null };
      all.set(asked, granted);
    }
    return granted;
  }

  function createScope(caller: Caller, { entity }: Asked, { rows, others, lines }: Rights): Scope {
    if (rows === null && others.size === 0 && lines.size === 0) return wholeScope;
    const own = tablesOf(entities.get(entity.name) ?? entity);
    return createRowScope({ own, rows, others, lines, claims: caller.claims });
  }

  return {
    mayUse: (caller, asked) => grantedTo(caller, asked).rights.mayUse,
    mayReachAllJobs: (caller, asked) => grantedTo(caller, asked).rights.mayReachAllJobs,
    fieldsOf: (caller, asked) => grantedTo(caller, asked).rights.fields,
    rightsKeyOf: (caller) => JSON.stringify(countingRoles(caller)),
    scopeOf(caller, asked) {
      const granted = grantedTo(caller, asked);
      return (granted.scope ??= createScope(caller, asked, granted.rights));
    },
  };
}

/** The caller's roles and the role of every caller with credentials. */
export const rolesOf = ({ kind, roles }: Caller): readonly string[] =>
  kind === "key" || kind === "token" ? [...new Set([...roles, everyRole])] : roles;

/** Every role that a configuration file names; other roles have no effect. */
function knownRoles(entities: ReadonlyMap<string, Entity>): ReadonlySet<string> {
  return new Set(
    [...entities.values()].flatMap(({ access }) => [...(access?.actions.keys() ?? [])]),
  );
}

type ByTable = ReadonlyMap<string, readonly Entity[]>;

/** The endpoints that show or write a table, by the table's identity. */
function endpointsByTable(entities: ReadonlyMap<string, Entity>): ByTable {
  const byTable = new Map<string, Entity[]>();
  for (const entity of entities.values()) {
    for (const identity of tablesOf(entity))
      byTable.set(identity, [...(byTable.get(identity) ?? []), entity]);
  }
  return byTable;
}

const tablesOf = ({ access, read }: Entity): ReadonlySet<string> =>
  new Set(
    [access?.table?.identity, read?.source.kind === "table" ? read.source.identity : undefined]
      // A table that does not exist has no identity.
      .filter((identity) => identity !== undefined),
  );

function workOut(
  entity: Entity,
  {
    action,
    roles,
    byTable,
    entities,
  }: { action: string; roles: readonly string[]; byTable: ByTable; entities: Entities },
): Rights {
  const rules = entity.access;
  const counting = rules ? roles.filter((role) => rules.actions.get(role)?.has(action)) : [];
  const others = otherTables(entity, roles, byTable);
  return {
    mayUse: counting.length > 0,
    mayReachAllJobs: counting.some((role) => rules?.administrators.has(role)),
    fields: rules
      ? fieldsFor(rules, counting, { others, related: relatedFor(entity, roles, entities) })
      : allFields,
    rows: rules ? alternatives(rules, counting) : null,
    others,
    lines: scopedLines(entity, roles, byTable),
  };
}

/** Null if one of the roles sees every row. */
function alternatives(
  { rows }: AccessRules,
  roles: readonly string[],
): readonly (readonly RowRule[])[] | null {
  const found = roles.map((role) => rows.get(role) ?? []);
  return found.some((one) => one.length === 0) ? null : found;
}

/** A caller has the rights of all its roles: only columns that every role lacks are denied. */
function lackedByAll(
  lists: ReadonlyMap<string, ReadonlySet<string>>,
  roles: readonly string[],
): ReadonlySet<string> {
  const [first, ...rest] = roles.map((role) => lists.get(role) ?? new Set<string>());
  return rest.reduce((common, one) => common.intersection(one), first ?? new Set<string>());
}

function fieldsFor(
  rules: AccessRules,
  roles: readonly string[],
  {
    others,
    related,
  }: { others: ReadonlyMap<string, ScopedTable>; related: FieldRights["related"] },
): FieldRights {
  const hidden = lackedByAll(rules.hidden, roles);
  const readOnly = lackedByAll(rules.readOnly, roles).union(hidden);
  const tables = new Map(
    [...others].flatMap(([identity, { fields }]): [string, TableRights][] =>
      fields === null ? [] : [[identity, fields]],
    ),
  );
  if (hidden.size + readOnly.size + tables.size === 0 && related === wholeRelated) return allFields;
  const key = JSON.stringify([
    [...hidden].toSorted(),
    [...readOnly].toSorted(),
    [...tables].map(([identity, { endpoints }]) => [
      identity,
      [...endpoints].map(([name, names]) => [name, [...names].toSorted()]),
    ]),
    related === wholeRelated || [...related].map(([name, names]) => [name, [...names].toSorted()]),
  ]);
  return { key, hidden, readOnly, tables, related };
}

/** What the roles see of the endpoints that relations of the entity lead to, and of those behind them. */
function relatedFor(
  entity: Entity,
  roles: readonly string[],
  entities: Entities,
): FieldRights["related"] {
  const found = new Map<string, ReadonlySet<string>>();
  let isWhole = true;
  const seen = new Set<string>();
  const visit = ({ relations }: Entity): void => {
    for (const { endpoint } of [...relations.values()].flatMap(({ steps }) => steps)) {
      const target = entities.get(endpoint);
      if (target === undefined || seen.has(endpoint)) continue;
      seen.add(endpoint);
      const hidden = hiddenAt(target, roles);
      if (hidden === null || hidden.size > 0) isWhole = false;
      if (hidden === null) continue;
      found.set(endpoint, hidden);
      visit(target);
    }
  };
  visit(entity);
  return isWhole ? wholeRelated : found;
}

/** The columns that the roles do not see when they read the endpoint; null = they may not. */
function hiddenAt(target: Entity, roles: readonly string[]): ReadonlySet<string> | null {
  const { access } = target;
  if (access === null) return new Set();
  for (const { action } of readingsOf(target)) {
    const counting = roles.filter((role) => access.actions.get(role)?.has(action));
    if (counting.length > 0) return lackedByAll(access.hidden, counting);
  }
  return null;
}

/** What the roles may read of the other tables that statements about the entity may use. */
function otherTables(
  entity: Entity,
  roles: readonly string[],
  byTable: ByTable,
): ReadonlyMap<string, ScopedTable> {
  const found = new Map<string, ScopedTable>();
  for (const identity of relatedTables(entity)) {
    const endpoints = byTable.get(identity) ?? [];
    if (endpoints.length === 0) continue;
    const table = tableFor(endpoints, roles);
    if (table !== null) found.set(identity, table);
  }
  return found;
}

/** Of the tables of the entity's details, those with lines that the roles may not read or write. */
function scopedLines(
  { composite, write }: Entity,
  roles: readonly string[],
  byTable: ByTable,
): ReadonlyMap<string, ScopedLines> {
  const found = new Map<string, ScopedLines>();
  for (const { table } of [...(composite?.details ?? []), ...(write?.cascades ?? [])]) {
    const lines = linesFor(byTable.get(table.identity) ?? [], roles);
    if (lines.read !== null || lines.write !== null) found.set(table.identity, lines);
  }
  return found;
}

/**
 * The scopes of the endpoints that the roles can read, or write, joined by OR. If there is none, the scopes for the
 * other use apply. Roles that can use no endpoint of the table get all lines of their documents.
 */
function linesFor(endpoints: readonly Entity[], roles: readonly string[]): ScopedLines {
  const scopesOf = (of: "readers" | "writers") =>
    endpoints.flatMap(({ access }) => {
      const counting = access === null ? [] : roles.filter((role) => access[of].has(role));
      return access === null || counting.length === 0 ? [] : [alternatives(access, counting)];
    });
  const [readable, writable] = [scopesOf("readers"), scopesOf("writers")];
  const joined = (scopes: typeof readable) =>
    scopes.length === 0 || scopes.includes(null) ? null : scopes.flatMap((scope) => scope ?? []);
  return {
    read: joined(readable.length > 0 ? readable : writable),
    write: joined(writable.length > 0 ? writable : readable),
  };
}

/** Tables that the entity's actions join, look up or reference. */
function relatedTables({ aggregate, importing, access, composite }: Entity): ReadonlySet<string> {
  const references = [access?.table, ...(composite?.details.map(({ table }) => table) ?? [])];
  return new Set([
    ...[...(aggregate?.joins.values() ?? [])].map(({ identity }) => identity),
    ...(aggregate?.tables ?? []).flatMap(({ source }) =>
      source.kind === "table" && source.identity !== undefined ? [source.identity] : [],
    ),
    ...[...(importing?.headings.values() ?? [])].flatMap((heading) =>
      "target" in heading ? [heading.table.identity] : [],
    ),
    ...references.flatMap(
      (table) => table?.foreignKeys.map(({ referencedIdentity }) => referencedIdentity) ?? [],
    ),
  ]);
}

/** Null if nothing is narrowed: the roles can read all columns of each endpoint of the table, and all rows of one. */
function tableFor(endpoints: readonly Entity[], roles: readonly string[]): ScopedTable | null {
  const readable = endpoints.flatMap(({ name, access }) => {
    const readers = roles.filter((role) => access?.readers.has(role));
    return access && readers.length > 0 ? [{ name, access, readers }] : [];
  });
  const scopes = readable.map(({ access, readers }) => alternatives(access, readers));
  const hidden = readable.map(
    ({ name, access, readers }) => [name, lackedByAll(access.hidden, readers)] as const,
  );
  const isWhole = scopes.some((scope) => scope === null);
  const showsAll = readable.length > 0 && hidden.every(([, names]) => names.size === 0);
  const isReadable = readable.length > 0;
  if (isWhole && showsAll && readable.length === endpoints.length) return null;
  const shown = readable.find(({ access: { table } }) => table !== null);
  return {
    isReadable,
    table: shown?.access.table ?? null,
    rows: isWhole ? null : scopes.flatMap((scope) => scope ?? []),
    fields: showsAll && readable.length === endpoints.length ? null : rightsOver(hidden),
  };
}

const rightsOver = (hidden: readonly (readonly [string, ReadonlySet<string>])[]): TableRights => ({
  endpoints: new Map(hidden),
  hidden: lackedByAll(
    new Map(hidden),
    hidden.map(([name]) => name),
  ),
});
