/** The entity sets of a project: which of them a caller has, and the actions that read them. */
import type { Action } from "../calls/action.ts";
import type { Caller } from "../plans/caller.ts";
import type { Entity } from "../plans/entity.ts";
import { AppError, notFound, unauthorized } from "../values/errors.ts";
import { closest } from "../values/closest.ts";
import { setActions } from "./set-actions.ts";
import { setNamesOf, type ProjectNames, type SetNames } from "./set-names.ts";

/** An action of an endpoint, as `dispatch.ts` binds it. */
interface BoundRead {
  mayUse(caller: Caller): boolean;
  viewFor(caller: Caller): Entity | null;
}

/** The actions of one set; null: the endpoint does not have them. */
export interface BoundSet<Bound extends BoundRead> {
  readonly names: SetNames;
  readonly list: Bound | null;
  /** Single records, with the rights of first and those of read. */
  readonly first: Bound | null;
  readonly read: Bound | null;
}

export interface BoundSets<Bound extends BoundRead> {
  readonly names: ProjectNames;
  /** By the names of OData. */
  readonly sets: ReadonlyMap<string, BoundSet<Bound>>;
}

/** `bind`: null when the entity does not switch the action on. */
export function bindSets<Bound extends BoundRead>(
  entities: ReadonlyMap<string, Entity>,
  bind: (action: Action, entity: Entity) => Bound | null,
): BoundSets<Bound> {
  const names = setNamesOf(entities);
  const actions = setActions(names);
  const sets = new Map<string, BoundSet<Bound>>();
  for (const one of names.sets.values()) {
    const entity = entities.get(one.endpoint)!;
    const bound = {
      list: bind(actions.list, entity),
      first: bind(actions.first, entity),
      read: bind(actions.read, entity),
    };
    if (bound.list !== null || bound.first !== null) sets.set(one.set, { names: one, ...bound });
  }
  return { names, sets };
}

/** A set as a caller has it. */
export interface SeenSet {
  readonly names: SetNames;
  /** With the columns that the caller sees, in lists and as single records; at least one. */
  readonly views: readonly Entity[];
  /** False: only single records can be read. */
  readonly hasList: boolean;
}

export function seenSets<Bound extends BoundRead>(
  { sets }: BoundSets<Bound>,
  caller: Caller,
): readonly SeenSet[] {
  return [...sets.values()].flatMap(({ names, list, first }): SeenSet[] => {
    const hasList = list?.mayUse(caller) === true;
    const used = [hasList ? list : null, first?.mayUse(caller) ? first : null];
    const views = used.flatMap((one) => one?.viewFor(caller) ?? []);
    return views.length === 0 ? [] : [{ names, views, hasList }];
  });
}

/** The action for a whole set, or for one of its records. Rejects with `notFound`, `forbidden` or `unauthorized`. */
export function actionFor<Bound extends BoundRead>(
  bound: BoundSets<Bound>,
  { set, isList, caller }: { set: string; isList: boolean; caller: Caller },
): Bound {
  const found = bound.sets.get(set);
  const single = [found?.first, found?.read].find((one) => one?.mayUse(caller));
  if (!isList && single) return single;
  if (found?.list?.mayUse(caller)) return found.list;
  if (caller.kind === "anonymous") throw unauthorized("This entity set requires credentials");
  if (single)
    throw new AppError("forbidden", `You may not list ${set}; ask for single records by their key`);
  const near = closest(
    set,
    seenSets(bound, caller).map(({ names }) => names.set),
  );
  throw notFound(
    near === null
      ? "Unknown entity set"
      : `Unknown entity set "${set.slice(0, 100)}"; did you mean "${near}"?`,
  );
}
