/**
 * The relations that a caller may use: to endpoints that it may read, made of columns that it may see. All others are
 * as good as not there.
 */
import type { Entity } from "../plans/entity.ts";
import type { RelationPlan } from "../plans/relation.ts";
import { boundParams, defaultParams, paramsKey } from "../plans/query-params.ts";
import { PathColumns, type Related, type UsableRelation } from "../query/paths.ts";
import type { Scalar } from "../values/scalar.ts";
import type { Columns } from "../values/types/column.ts";
import { type Access, type Asked, type FieldRights, wholeRelated } from "./access.ts";
import type { Caller } from "../plans/caller.ts";
import type { Scope } from "./scope.ts";
import { withVisibility } from "./visibility.ts";

export type Entities = ReadonlyMap<string, Entity>;

/** The columns that requests may name: the given ones, and those of related records by their paths. */
export type Naming = (columns: Columns) => Columns;

const noRelations: ReadonlyMap<string, UsableRelation> = new Map();

/** How a caller with these rights names columns from the entity on. */
export function namingFrom(
  { relations }: Pick<Entity, "relations">,
  rights: FieldRights["related"],
  entities: Entities,
): Naming {
  if (relations.size === 0) return (columns) => columns;
  const mayRead = (endpoint: string): boolean => rights === wholeRelated || rights.has(endpoint);
  const seen = new Map<string, Columns>();
  const known = new Map<string, Related>();

  function columnsAt(endpoint: string): Columns {
    const made =
      seen.get(endpoint) ??
      without(entities.get(endpoint)?.read?.columns ?? new Map(), rights.get(endpoint));
    seen.set(endpoint, made);
    return made;
  }

  function relatedAt(endpoint: string): Related {
    let made = known.get(endpoint);
    if (made === undefined) {
      const columns = columnsAt(endpoint);
      const further = entities.get(endpoint)?.relations ?? new Map<string, RelationPlan>();
      const key = entities.get(endpoint)?.read?.key ?? [];
      made = { endpoint, columns, key, relations: usable(further, columns) };
      known.set(endpoint, made);
    }
    return made;
  }

  function usable(
    declared: ReadonlyMap<string, RelationPlan>,
    columns: Columns,
  ): ReadonlyMap<string, UsableRelation> {
    if (declared.size === 0) return noRelations;
    return new Map(
      [...declared].flatMap(([name, { isMany, endpoint, ...plan }]): [string, UsableRelation][] => {
        // A query may name one of its columns like a relation.
        const steps = columns.has(name) ? null : stepsFrom(columns, plan.steps);
        if (steps === null) return [];
        let before = columns;
        for (const step of steps) {
          if (!mayRead(step.endpoint)) return [];
          const behind = columnsAt(step.endpoint);
          const isMade = step.on.every(
            ({ left, right }) => before.has(left.name) && behind.has(right.name),
          );
          if (!isMade) return [];
          before = behind;
        }
        return [[name, { isMany, steps, related: () => relatedAt(endpoint) }]];
      }),
    );
  }

  return (columns) => new PathColumns(columns, () => usable(relations, columns));
}

/** The steps, beginning at these columns; null if some are missing or of another type, as queries may have them. */
function stepsFrom(columns: Columns, steps: RelationPlan["steps"]): RelationPlan["steps"] | null {
  const [first, ...rest] = steps as [RelationPlan["steps"][number]];
  const on = first.on.map(({ left, right }) => ({ left: columns.get(left.name) ?? null, right }));
  if (on.every(({ left }, at) => left === first.on[at]!.left)) return steps;
  const begins = on.flatMap(({ left, right }) =>
    left !== null && left.type === right.type ? [{ left, right }] : [],
  );
  return begins.length < on.length ? null : [{ ...first, on: begins }, ...rest];
}

const without = (columns: Columns, hidden: ReadonlySet<string> | undefined): Columns =>
  hidden === undefined || hidden.size === 0
    ? columns
    : new Map([...columns].filter(([name]) => !hidden.has(name)));

/** The action whose rights decide what is seen of related records. */
const readingActions = ["first", "read"] as const;

const asked = new WeakMap<Entity, readonly Asked[]>();

/** The reading actions that the endpoint has; always the same objects, by which rights are kept. */
export function readingsOf(entity: Entity): readonly Asked[] {
  let known = asked.get(entity);
  if (known === undefined) {
    known = readingActions
      .filter((action) => entity.enabled.has(action))
      .map((action) => ({ entity, action }));
    asked.set(entity, known);
  }
  return known;
}

// By the question itself: those of every request are made once, at the start.
const scopes = new WeakMap<Caller, WeakMap<Asked, Scope>>();

/**
 * The scope of the caller for the action, and behind it those of the endpoints that relations lead to. `given`: what the
 * request says of the parameters of the endpoint's queries; absent: their defaults.
 */
export function scopeWithRelated(
  caller: Caller,
  question: Asked,
  within: { readonly access: Access; readonly entities: Entities },
  given?: ReadonlyMap<string, Scalar>,
): Scope {
  return withParams(scopeWithoutParams(caller, question, within), question.entity, caller, given);
}

/** With the values of the endpoint's own parameters. */
function withParams(
  scope: Scope,
  { params }: Entity,
  caller: Caller,
  given?: ReadonlyMap<string, Scalar>,
): Scope {
  if (params === null) return scope;
  const bound = boundParams(params, given ?? defaultParams(params), caller);
  return { ...scope, key: JSON.stringify([scope.key, paramsKey(bound)]), params: bound };
}

function scopeWithoutParams(
  caller: Caller,
  question: Asked,
  { access, entities }: { readonly access: Access; readonly entities: Entities },
): Scope {
  const { entity, action } = question;
  if (entity.relations.size === 0)
    return withVisibility(access.scopeOf(caller, question), entity, action);
  let known = scopes.get(caller);
  if (known === undefined) scopes.set(caller, (known = new WeakMap()));
  let scope = known.get(question);
  if (scope === undefined) {
    const own = withVisibility(access.scopeOf(caller, question), entity, action);
    const related = relatedScopes(caller, access, entities);
    scope = {
      ...own,
      key: keyOf(own, relatedTo(entity, related, entities)),
      related: required(related),
    };
    known.set(question, scope);
  }
  return scope;
}

/** Null: the caller may not read the endpoint. */
type FindScope = (endpoint: string) => Scope | null;

const required =
  (find: FindScope) =>
  (endpoint: string): Scope => {
    const scope = find(endpoint);
    if (scope === null) throw new Error("A path leads to an endpoint that the caller may not read");
    return scope;
  };

/** Differs where any related rows differ. */
function keyOf({ key }: Scope, related: ReadonlyMap<string, Scope>): string {
  const keys = [...related].flatMap(([name, scope]) =>
    scope.key === "" ? [] : [[name, scope.key]],
  );
  return keys.length === 0 ? key : JSON.stringify([key, keys]);
}

/** The scopes of the endpoints that relations lead to from the entity on. */
function relatedTo(
  entity: Entity,
  find: FindScope,
  entities: Entities,
): ReadonlyMap<string, Scope> {
  const found = new Map<string, Scope>();
  const seen = new Set<string>();
  const visit = ({ relations }: Entity): void => {
    for (const { endpoint } of [...relations.values()].flatMap(({ steps }) => steps)) {
      if (seen.has(endpoint)) continue;
      seen.add(endpoint);
      const scope = find(endpoint);
      if (scope === null) continue;
      found.set(endpoint, scope);
      visit(entities.get(endpoint)!);
    }
  };
  visit(entity);
  return found;
}

function relatedScopes(caller: Caller, access: Access, entities: Entities): FindScope {
  const known = new Map<string, Scope | null>();
  return (endpoint) => {
    let scope = known.get(endpoint);
    if (scope === undefined) {
      const entity = entities.get(endpoint);
      const reading = entity && readingsOf(entity).find((one) => access.mayUse(caller, one));
      scope = reading
        ? withParams(
            withVisibility(access.scopeOf(caller, reading), reading.entity, reading.action),
            reading.entity,
            caller,
          )
        : null;
      known.set(endpoint, scope);
    }
    return scope;
  };
}
