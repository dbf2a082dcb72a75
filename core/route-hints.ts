/**
 * Messages of a 404: the name that was probably meant, or that the action is disabled. They name only endpoints and
 * actions that the caller may use, so a caller without rights learns nothing.
 */
import { actions as allActions, plannedActions } from "./actions.ts";
import type { Caller } from "./plans/caller.ts";
import { closest } from "./values/closest.ts";
import { type AppError, notFound } from "./values/errors.ts";

/** The part of an action of an endpoint that defines who may use it. */
interface Usable {
  mayUse(caller: Caller): boolean;
}

type ByAction = ReadonlyMap<string, Usable>;
type ByEndpoint = ReadonlyMap<string, ByAction>;

/** The names of the actions that the caller may use, in the order of the catalog. */
export const usableActions = (actions: ByAction, caller: Caller): string[] =>
  [...actions].filter(([, action]) => action.mayUse(caller)).map(([name]) => name);

/** The names of the endpoints with an action that the caller may use; with this one, if it is given. */
export const usableEndpoints = (
  endpoints: ByEndpoint,
  { caller, action }: { readonly caller: Caller; readonly action?: string },
): string[] =>
  [...endpoints]
    .filter(([, actions]) =>
      action === undefined
        ? usableActions(actions, caller).length > 0
        : actions.get(action)?.mayUse(caller) === true,
    )
    .map(([name]) => name);

/** `Unknown project "shpo"; did you mean "shop"?`, or `Unknown project` where no known name is similar. */
export function unknownName(what: string, name: string, known: Iterable<string>): AppError {
  const near = closest(name, known);
  return notFound(
    near === null
      ? `Unknown ${what}`
      : `Unknown ${what} ${JSON.stringify(name)}; did you mean ${JSON.stringify(near)}?`,
  );
}

/** The names in a path that leads to no action. */
export interface Missed {
  readonly endpoint: string;
  readonly action: string;
  readonly caller: Caller;
}

/** For an endpoint that does not exist. The path may also mean an action of the whole project (`lock/acquire`). */
export function unknownEndpoint(
  { endpoint, action, caller }: Missed,
  { endpoints, projectWide }: { readonly endpoints: ByEndpoint; readonly projectWide: ByAction },
): AppError {
  const path = `${endpoint}/${action}`;
  const wide = [...projectWide.keys()].filter(
    (name) => usableEndpoints(endpoints, { caller, action: name }).length > 0,
  );
  return closest(path, wide) === null
    ? unknownName("endpoint", endpoint, usableEndpoints(endpoints, { caller }))
    : unknownName("action", path, wide);
}

/** For an action that the endpoint does not have. `actions`: those that it has. */
export function unknownAction({ endpoint, action, caller }: Missed, actions: ByAction): AppError {
  const planned = plannedActions.get(action);
  if (planned)
    return notFound(
      `The action ${planned.name} is planned but not available yet: ${planned.reason}`,
    );
  const usable = usableActions(actions, caller);
  const setting = settingOf(action, actions);
  if (setting === null || usable.length === 0) return unknownName("action", action, usable);
  return notFound(
    `The action ${action} is switched off for ${endpoint}; ` +
      `the operator switches it on with {"action": {"${setting}": true}} in the file of the endpoint`,
  );
}

/** The name under `action` that enables the action; null if the catalog has no such action. */
function settingOf(name: string, actions: ByAction): string | null {
  const known = allActions.find((one) => one.name === name);
  if (!known) return null;
  const { group } = known;
  if (group === null || group === "workflow") return name;
  const isPartlyOn = allActions.some((one) => one.group === group && actions.has(one.name));
  return isPartlyOn ? name : group;
}
