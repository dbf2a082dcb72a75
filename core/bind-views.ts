/** An action of an endpoint for each of its callers: a handler for the fields that the caller may see. */
import type { Action } from "./calls/action.ts";
import type { Handler } from "./calls/handler.ts";
import type { Views } from "./callers/entity-views.ts";
import type { Caller } from "./plans/caller.ts";
import type { Entity } from "./plans/entity.ts";
import { AppError, unauthorized } from "./values/errors.ts";
import { bindAction, type Within } from "./bind.ts";

interface Binding {
  readonly entity: Entity;
  readonly views: Views;
  readonly within: Within;
}

/**
 * One handler per view of the entity, created for the first caller with these rights. Null when the entity lacks what
 * the action needs, or does not switch it on.
 */
export function bindViews(action: Action, { entity, views, within }: Binding) {
  if (!entity.enabled.has(action.name)) return null;
  const { access } = within;
  const whole = bindAction(action, entity, within);
  if (whole === null) return null;
  const handlers = new Map<string, Handler | null>([["", whole]]);
  const asked = { entity, action: action.name };

  /** Null when the caller may see none of the fields that the action needs. */
  function handlerOf(caller: Caller): Handler | null {
    const rights = access.fieldsOf(caller, asked);
    let handler = handlers.get(rights.key);
    if (handler === undefined) {
      handler = bindAction(action, views.viewFor(rights), within);
      handlers.set(rights.key, handler);
    }
    return handler;
  }

  return {
    action,
    entity,
    showsErrorsInline: action.showsErrorsInline(entity),
    mayUse: (caller: Caller): boolean => access.mayUse(caller, asked) && handlerOf(caller) !== null,
    viewFor: (caller: Caller): Entity | null =>
      access.mayUse(caller, asked) ? views.viewFor(access.fieldsOf(caller, asked)) : null,
    handlerFor(caller: Caller): Handler {
      if (!access.mayUse(caller, asked)) throw refusalFor(caller);
      const handler = handlerOf(caller);
      if (handler === null) throw forbidden();
      return handler;
    },
  };
}

const forbidden = (): AppError => new AppError("forbidden", "You may not use this action");

/** For a caller that may not use an action. One without credentials may have the right once it sends some. */
export const refusalFor = ({ kind }: Caller): AppError =>
  kind === "anonymous" ? unauthorized("This action requires credentials") : forbidden();
