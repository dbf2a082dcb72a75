/**
 * START HERE: how a request finds its action. `bindProject` makes the table project -> endpoint -> action -> handler once, at
 * start; `findRoute` looks a request up in it and `perform` runs what was found, within the request's deadline.
 */
import type { Action, Answer, Handler, Method, Request } from "./action.ts";
import { actions, plannedActions } from "./actions.ts";
import type { Entity } from "./entity.ts";
import { AppError, notFound, unavailable } from "./errors.ts";
import { limits } from "./limits.ts";
import type { Clock, Db, NewId } from "./ports.ts";

export interface Route {
  readonly action: Action;
  readonly handler: Handler;
  readonly db: Db;
}

/** One project: its routes, or null while its database has not been seen yet. */
export interface Project {
  readonly name: string;
  readonly db: Db;
  routes: ReadonlyMap<string, ReadonlyMap<string, Route>> | null;
}

export type Projects = ReadonlyMap<string, Project>;

/** The handlers of every action that an entity switches on and has what it needs for. */
export function bindProject(
  entities: ReadonlyMap<string, Entity>,
  db: Db,
): NonNullable<Project["routes"]> {
  const routes = new Map<string, ReadonlyMap<string, Route>>();
  for (const [name, entity] of entities) {
    const bound = new Map<string, Route>();
    for (const action of actions) {
      const handler = entity.enabled.has(action.name) ? action.bind(entity) : null;
      if (handler) bound.set(action.name, { action, handler, db });
    }
    routes.set(name, bound);
  }
  return routes;
}

export interface Target {
  readonly project: string;
  readonly endpoint: string;
  readonly action: string;
  readonly method: string;
}

/** Rejects with 404 (unknown or switched off), 405 (wrong method) or 503 (database not seen yet). */
export function findRoute(projects: Projects, target: Target): Route {
  const project = projects.get(target.project);
  if (!project) throw notFound("There is no such project");
  if (!project.routes) throw unavailable("The project's database is not reachable yet");
  const endpoint = project.routes.get(target.endpoint);
  if (!endpoint) throw notFound("There is no such endpoint");
  const route = endpoint.get(target.action);
  if (!route) {
    const isPlanned = plannedActions.has(target.action);
    throw notFound(
      isPlanned
        ? `The action ${target.action} is planned and not available`
        : "There is no such action",
    );
  }
  if (!route.action.methods.includes(target.method as Method)) {
    throw new AppError(
      "methodNotAllowed",
      `Use ${route.action.methods.join(" or ")} for this action`,
      {
        allow: route.action.methods,
      },
    );
  }
  return route;
}

export interface Surroundings {
  readonly now: Clock;
  readonly newId: NewId;
}

/** Runs the action; whatever the database does, it ends within `limits.requestDeadlineMs`. */
export function perform(
  route: Route,
  request: Omit<Request, "session" | "now" | "newId">,
  { now, newId }: Surroundings,
): Promise<Answer> {
  const session = route.db.session(performance.now() + limits.requestDeadlineMs);
  const complete: Request = { ...request, session, now, newId };
  return route.handler(complete);
}
