/**
 * START HERE: how a request finds its action. At start, `bindProject` builds the table project -> endpoint -> action ->
 * handler. `findRoute` looks a request up in it, and `perform` runs the handler within the request's deadline.
 */
import type { Action, Method } from "./calls/action.ts";
import type { Answer } from "./calls/answer.ts";
import { actions } from "./actions.ts";
import { bindViews, refusalFor } from "./bind-views.ts";
import { batch, batchesAreOff, batchName, bindBatch } from "./batch/batch-action.ts";
import { boundChanges, changesName, isAboutChanges, noChangesAt } from "./live/changes-action.ts";
import type { Feed } from "./changes/feed.ts";
import type { StreamLimits } from "./plans/open-streams.ts";
import { bindSets, type BoundSets } from "./odata/bound-sets.ts";
import type { WebhookSender } from "./webhooks/webhook-sender.ts";
import type { ProjectCache } from "./cache/cache.ts";
import type { Access } from "./callers/access.ts";
import type { Caller } from "./plans/caller.ts";
import type { Callers } from "./callers/callers.ts";
import { createViews } from "./callers/entity-views.ts";
import type { AgentPlan } from "./plans/agent-plan.ts";
import type { Entity } from "./plans/entity.ts";
import { AppError, invalidPayload, unavailable } from "./values/errors.ts";
import type { Handler, Provided, Request } from "./calls/handler.ts";
import type { ProjectJobs } from "./jobs/jobs.ts";
import { claimOwner, TakenClaims } from "./files/claiming-session.ts";
import type { RecordFiles } from "./files/record-files.ts";
import { isObject } from "./values/json.ts";
import { limits } from "./values/limits.ts";
import { lockTokensIn } from "./locks/lock-keys.ts";
import type { ProjectLocks } from "./locks/locks.ts";
import type { RouteNames } from "./plans/observer.ts";
import type { Background } from "./plans/hook-call.ts";
import type { Db, SchemaWatch } from "./plans/db-port.ts";
import type { Outbound } from "./plans/outbound-port.ts";
import {
  unknownAction,
  unknownEndpoint,
  unknownName,
  usableActions,
  usableEndpoints,
} from "./route-hints.ts";
import type { Runtime } from "./plans/runtime.ts";

/** An action of an endpoint. Independent of databases, so it outlives a request on every runtime. */
export interface BoundAction {
  readonly action: Action;
  /** With all of its fields; null for an action whose body names the endpoint. */
  readonly entity: Entity | null;
  /** The entity with the fields that the caller may see in this action; null when the caller may not use it. */
  viewFor(caller: Caller): Entity | null;
  /**
   * The handler for the fields that the caller may see. Throws `forbidden` (`unauthorized` for a caller without
   * credentials) when the caller may not use the action, or may see none of the fields that it needs.
   */
  handlerFor(caller: Caller): Handler;
  /** Whether `handlerFor` has one for the caller. */
  mayUse(caller: Caller): boolean;
  /** Errors are sent with status 200. */
  readonly showsErrorsInline: boolean;
}

/** One project: its routes, or null until its database was reached for the first time. */
export interface Project {
  readonly name: string;
  readonly db: Db;
  readonly cache: ProjectCache;
  readonly locks: ProjectLocks;
  readonly callers: Callers;
  readonly outbound: Outbound;
  readonly background: Background;
  readonly jobs: ProjectJobs;
  readonly files: RecordFiles;
  readonly feed: Feed;
  readonly webhooks: WebhookSender;
  readonly schema: SchemaWatch;
  readonly runtime: Runtime;
  routes: Routes | null;
}

export interface Routes {
  /** By endpoint and action. */
  readonly endpoints: ReadonlyMap<string, ReadonlyMap<string, BoundAction>>;
  /** By the action's name: actions whose body names the endpoint. */
  readonly projectWide: ReadonlyMap<string, BoundAction>;
  /** Equal for callers that may use the same actions with the same fields. */
  rightsKeyOf(caller: Caller): string;
  /** Endpoints that are left out because of a fault in their configuration. */
  readonly leftOut: ReadonlySet<string>;
  /** Null: the project has no batches. */
  readonly batches: { readonly stepsMax: number } | null;
  /** What agents can use, and what of it they can write; null: nothing. */
  readonly agents: { readonly routes: Routes; readonly writes: AgentPlan["writes"] } | null;
  /** Null: the project has no OData. */
  readonly odata: BoundSets<BoundAction> | null;
}

export type Projects = ReadonlyMap<string, Project>;

interface BindOptions {
  readonly access: Access;
  readonly leftOut: ReadonlySet<string>;
  /** Null: there are none. */
  readonly batches: { readonly project: string; readonly stepsMax: number } | null;
  readonly streams: StreamLimits | null;
  /** Whether the project's records can be read by OData. */
  readonly odata: boolean;
}

/** The handlers of every action that is switched on for an entity and whose needs the entity meets. */
export function bindProject(
  entities: ReadonlyMap<string, Entity>,
  { access, leftOut, batches, streams, odata }: BindOptions,
): Routes {
  const within = { access, entities };
  const endpoints = new Map<string, ReadonlyMap<string, BoundAction>>();
  const views = new Map([...entities.values()].map((one) => [one, createViews(one, entities)]));
  const bind = (action: Action, entity: Entity): BoundAction | null =>
    bindViews(action, { entity, views: views.get(entity)!, within });
  for (const [name, entity] of entities) {
    const bound = new Map<string, BoundAction>();
    for (const action of actions) {
      const one = bind(action, entity);
      if (one) bound.set(action.name, one);
    }
    endpoints.set(name, bound);
  }
  const projectWide = new Map<string, BoundAction>();
  // Whether a caller may use it at an endpoint that is left out is not known.
  const asFarAsKnown = (one: BoundAction): BoundAction => ({
    ...one,
    mayUse: (caller) => leftOut.size > 0 || one.mayUse(caller),
  });
  // A caller that may use it at no endpoint is refused whatever the body names.
  const bindWide = (bound: BoundAction): void => {
    const one = asFarAsKnown(bound);
    projectWide.set(one.action.name, {
      ...one,
      handlerFor(caller) {
        if (!one.mayUse(caller)) throw refusalFor(caller);
        return one.handlerFor(caller);
      },
    });
  };
  for (const action of actions) {
    const isServed = [...endpoints.values()].some((bound) => bound.has(action.name));
    if (!action.isProjectWide || !isServed) continue;
    const handler = projectWideHandler(action, { endpoints, leftOut });
    bindWide({
      action,
      entity: null,
      viewFor: () => null,
      handlerFor: () => handler,
      mayUse: (caller) => usableEndpoints(endpoints, { caller, action: action.name }).length > 0,
      showsErrorsInline: false,
    });
  }
  const rightsKeyOf = (caller: Caller): string => access.rightsKeyOf(caller);
  const sets = odata ? bindSets(entities, bind) : null;
  const main = { endpoints, projectWide, leftOut, batches, odata: sets };
  const routes: Routes = { ...main, agents: null, rightsKeyOf };
  // Without any right, its first step fails, and the answer says so.
  if (batches !== null) projectWide.set(batchName, asFarAsKnown(boundBatch(batches, routes)));
  boundChanges(endpoints, { within, streams }).forEach(bindWide);
  return routes;
}

function boundBatch(
  { project, stepsMax }: NonNullable<BindOptions["batches"]>,
  routes: Routes,
): BoundAction {
  const handler = bindBatch(project, {
    stepsMax,
    routeOf: ({ endpoint, action }, caller) =>
      routeIn(routes, { endpoint, action, method: "POST", caller }),
  });
  const steps = [...routes.endpoints.values()].flatMap((actions) =>
    [...actions.values()].filter(({ action }) => action.isStep),
  );
  return {
    action: batch,
    entity: null,
    viewFor: () => null,
    handlerFor: () => handler,
    mayUse: (caller) => steps.some((step) => step.mayUse(caller)),
    showsErrorsInline: false,
  };
}

/** Hands the request to the endpoint that the body names as `resource`. */
function projectWideHandler(
  action: Action,
  { endpoints, leftOut }: Pick<Routes, "endpoints" | "leftOut">,
): Handler {
  const handlerOf = ({ body, caller }: Request): Handler => {
    const resource = isObject(body) ? body["resource"] : undefined;
    if (typeof resource !== "string")
      throw invalidPayload("resource is required: the name of an endpoint");
    if (leftOut.has(resource)) throw isLeftOut();
    const route = endpoints.get(resource)?.get(action.name);
    if (!route) {
      const known = usableEndpoints(endpoints, { caller, action: action.name });
      throw unknownName("resource", resource, known);
    }
    return route.handlerFor(caller);
  };
  return {
    run: async (request, keepAnswer) => handlerOf(request).run(request, keepAnswer),
    replay: async (request, answer) => handlerOf(request).replay(request, answer),
    // Its answers are not stored.
    viewKey: () => "",
  };
}

export interface Target {
  /** For a project-wide action such as `lock/acquire`: the part before the slash; empty for `_batch`. */
  readonly endpoint: string;
  readonly action: string;
  readonly method: string;
  readonly caller: Caller;
}

/** What a request is about, whether allowed or not; null for names that are not configured. */
export function placeIn(
  { name, routes }: Project,
  { endpoint, action }: Pick<Target, "endpoint" | "action">,
): RouteNames {
  const bound = routes?.endpoints.get(endpoint);
  if (bound) return { project: name, endpoint, action: bound.has(action) ? action : null };
  const wide = wideName({ endpoint, action });
  const isWide = routes?.projectWide.has(wide) === true;
  return { project: name, endpoint: null, action: isWide ? wide : null };
}

const wideName = ({ endpoint, action }: Pick<Target, "endpoint" | "action">): string =>
  endpoint === "" ? action : `${endpoint}/${action}`;

const isLeftOut = (): AppError =>
  unavailable("The configuration of this endpoint has a fault; try again later");

/** Rejects with 404 (unknown or disabled), 405 (wrong method) or 503 (database not reached, configuration fault). */
export const findRoute = (project: RoutesOf, target: Target): BoundAction =>
  routeIn(routesFor(project, target.endpoint), target);

function routeIn(routes: Routes, target: Target): BoundAction {
  if (routes.leftOut.has(target.endpoint)) throw isLeftOut();
  const endpoint = routes.endpoints.get(target.endpoint);
  const route = endpoint?.get(target.action) ?? routes.projectWide.get(wideName(target));
  if (!route && wideName(target) === batchName) throw batchesAreOff();
  if (!route && isAboutChanges(wideName(target)))
    throw noChangesAt({ hasList: routes.projectWide.has(changesName) });
  if (!route) throw endpoint ? unknownAction(target, endpoint) : unknownEndpoint(target, routes);
  if (!route.action.methods.includes(target.method as Method)) {
    throw new AppError(
      "methodNotAllowed",
      `Use ${route.action.methods.join(" or ")} for this action`,
      { allow: route.action.methods },
    );
  }
  return route;
}

type RoutesOf = Pick<Project, "routes" | "schema">;

function routesFor({ routes, schema }: RoutesOf, endpoint: string): Routes {
  if (!routes)
    throw unavailable("The database of this project is not reachable yet; try again later");
  if (routes.leftOut.has(endpoint)) {
    // Its table or column may be back.
    schema.doubt();
    throw isLeftOut();
  }
  return routes;
}

/** Rejects with 404 if the caller can use no action of the endpoint, existing or not; with 503 as `findRoute` does. */
export function checkEndpoint(
  project: RoutesOf,
  { endpoint, caller }: Pick<Target, "endpoint" | "caller">,
): void {
  const { endpoints } = routesFor(project, endpoint);
  const actions = endpoints.get(endpoint);
  if (!actions || usableActions(actions, caller).length === 0)
    throw unknownName("endpoint", endpoint, usableEndpoints(endpoints, { caller }));
}

/**
 * Runs the action. It ends within `limits.requestDeadlineMs`, whatever the database does. The cache is invalidated
 * before the answer is sent.
 */
export async function perform(
  { handler, project }: { readonly handler: Handler; readonly project: Project },
  request: Omit<Request, keyof Provided>,
): Promise<Answer> {
  const deadlineAtMs = performance.now() + limits.requestDeadlineMs;
  const { caller, lockToken, share, log } = request;
  const { cache, outbound, background, jobs, files, feed, db, runtime } = project;
  const acknowledged = () => cache.acknowledged();
  const session = db.session(deadlineAtMs, {
    caller,
    share,
    ...(handler.isRead && { acknowledged }),
  });
  const locks = project.locks({ tokens: lockTokensIn(lockToken), share, deadlineAtMs, log });
  const { digest, basePath, now, newId } = runtime;
  const taken = new TakenClaims();
  /** Files of undone writes, which are nothing that is worth keeping; those of dry runs stay claims. */
  const discard = async (ids: readonly string[]): Promise<readonly string[] | null> => {
    if (ids.length === 0 || request.dryRun) return null;
    return files.discard(ids, { owner: claimOwner(caller, digest), untilMs: deadlineAtMs });
  };
  try {
    // One spread and named members: two spreads take ten times as long.
    const whole: Request = {
      ...request,
      session,
      deadlineAtMs,
      cache,
      locks,
      outbound,
      background: request.dryRun ? null : background,
      jobs,
      files,
      feed,
      taken,
      db,
      digest,
      basePath,
      now,
      newId,
    };
    const answer = await handler.run(whole, null);
    if (session.written.size > 0) {
      await cache.wrote(session.written);
      project.webhooks.wrote(session.written);
    }
    const { later = [] } = answer;
    if (later.length > 0 && !request.dryRun) await background.add(later);
    if (!taken.isEmpty) await discard(taken.undone);
    return answer;
  } catch (error) {
    if (session.written.size > 0 && mayBeCommitted(error)) await cache.wrote(session.written);
    const removed = await discard(taken.all);
    throw withDoubt(removed?.length ? withRemoved(error, removed) : error, project);
  } finally {
    // The next holder of the lock must read what this request wrote.
    if (locks.isHolding()) await locks.close();
  }
}

/** The error, which tells the client which files it has to send again. */
const withRemoved = (error: unknown, removed: readonly string[]): unknown =>
  error instanceof AppError
    ? error.with({ data: { ...error.data, removed_files: removed } })
    : error;

/**
 * The error, or `unavailable` instead if the project is compiled again because tables may have changed. If that
 * repeatedly finds no change, the statement itself is at fault.
 */
function withDoubt(error: unknown, { schema }: Project): unknown {
  if (!(error instanceof AppError) || error.schemaDoubt === undefined) return error;
  schema.doubt(error.schemaDoubt);
  if (!schema.mayPass(error.schemaDoubt)) return error;
  return unavailable("The tables of the database have changed; try again", error.cause);
}

/** When the connection is lost during COMMIT, the outcome is unknown. All other failures are rolled back. */
const mayBeCommitted = (error: unknown): boolean =>
  !(error instanceof AppError) || error.kind === "unavailable" || error.kind === "internal";
