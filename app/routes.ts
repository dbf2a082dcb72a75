/** The API's one route: find the action, read the body, run it, wrap the answer. */
import { findRoute, perform, type Projects } from "../core/dispatch.ts";
import type { Clock, NewId } from "../core/ports.ts";
import { readBody } from "./body.ts";
import { answer } from "./envelope.ts";
import type { Handle } from "./exchange.ts";

export interface RouteDeps {
  readonly projects: Projects;
  readonly now: Clock;
  readonly newId: NewId;
  readonly bodyLimitBytes: number;
}

/** The handler of `/api/:project/:endpoint/:action`, whatever the method. */
export function callAction({ projects, now, newId, bodyLimitBytes }: RouteDeps): Handle {
  return async (c, exchange) => {
    const { project = "", endpoint = "", action = "" } = c.req.param();
    const route = findRoute(projects, { project, endpoint, action, method: c.req.method });
    const body = await readBody(c.req.raw, bodyLimitBytes);
    const ifMatch = c.req.header("If-Match") ?? null;
    const result = await perform(route, { body, ifMatch, log: exchange.log }, { now, newId });
    return answer(exchange, result, now());
  };
}
