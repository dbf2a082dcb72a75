/** The API's one route: find the action, read the body, run it, wrap the answer. */
import type { Method } from "../../core/calls/action.ts";
import { findRoute, perform, placeIn, type Projects, type Routes } from "../../core/dispatch.ts";
import type { Clock, NewId } from "../../core/values/clock.ts";
import { closest } from "../../core/values/closest.ts";
import { createDeadlines } from "../../core/values/deadlines.ts";
import { AppError, notFound } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";
import { type Caller, shareOf } from "../../core/plans/caller.ts";
import { unknownName, usableEndpoints } from "../../core/route-hints.ts";
import { type AdmissionDeps, createAdmission } from "./admission.ts";
import { addressOf } from "./client-address.ts";
import { type BodyOptions, readBody } from "./body.ts";
import { download } from "./download.ts";
import { answer, failureReply } from "./envelope.ts";
import type { Exchange, Handle } from "./exchange.ts";
import { parseForm } from "./form.ts";
import { checkOrigin } from "./guard.ts";
import type { Incoming } from "./incoming.ts";
import { readUpload } from "./read-upload.ts";

export interface RouteDeps extends AdmissionDeps {
  readonly projects: Projects;
  readonly now: Clock;
  readonly newId: NewId;
  readonly bodyLimitBytes: number;
  /** How long a client may take to send a body. */
  readonly bodyTimeoutMs: number;
  /** The origins whose pages may call each project; a project without an entry allows none. */
  readonly corsOrigins: ReadonlyMap<string, readonly string[]>;
  /** Where the service is mounted, as `/rows`; empty at the root. */
  readonly basePath: string;
}

/** `/api/{project}/{endpoint}/{action}`; actions such as `lock/acquire` have one more segment. */
const actionPath = /^\/api\/([^/]+)\/([^/]+)\/((?:[^/]+\/)?[^/]+)$/;

/** What the path of an action names, whether it exists or not. */
export interface ActionPath {
  readonly project: string;
  readonly endpoint: string;
  readonly action: string;
}

/** Paths that were read: most requests come to a few. */
const paths = new Map<string, ActionPath | null>();

/** Null: it is not the path of an action. */
export function readActionPath(path: string): ActionPath | null {
  const known = paths.get(path);
  if (known !== undefined) return known;
  const [, project, endpoint, action] = actionPath.exec(path) ?? [];
  const read = project && endpoint && action ? { project, endpoint, action } : null;
  if (paths.size >= limits.pathsKept) paths.clear();
  if (path.length <= limits.keptPathLengthMax) paths.set(path, read);
  return read;
}

const nowhere: ActionPath = { project: "", endpoint: "", action: "" };

/** The handler of the paths of actions, for every method. */
export function callAction(deps: RouteDeps): Handle {
  const { projects, now, newId, bodyLimitBytes: bytesMax, bodyTimeoutMs: timeoutMs } = deps;
  const { corsOrigins, trustProxy } = deps;
  const admit = createAdmission(deps);
  const waiting = { timeoutMs, deadlines: createDeadlines() };
  return async (incoming, exchange) => {
    const { method, headers, path } = incoming;
    const { project, endpoint, action } = readActionPath(path) ?? nowhere;
    const found = projects.get(project);
    if (!found) throw await unknownProject(deps, { incoming, exchange, name: project });
    exchange.place = placeIn(found, { endpoint, action });
    const admitted = admit({ incoming, exchange, project: found, endpoint, action });
    const caller = admitted instanceof Promise ? await admitted : admitted;
    // No name that a path holds needs one.
    if (path.includes("%")) throw nothingHere(deps.basePath);
    const route = findRoute(found, { endpoint, action, method, caller });
    // Permission is checked before the body is read.
    const handler = route.handlerFor(caller);
    let body: unknown;
    try {
      if (method === "POST") checkOrigin(incoming, corsOrigins.get(project) ?? []);
      const { takesForm, takesUpload } = route.action;
      const upload = takesUpload ? await readUpload(incoming.request, waiting) : null;
      if (!upload) body = await payloadOf(incoming, { ...waiting, bytesMax, takesForm });
      const request = {
        caller,
        share: () => shareOf(caller, addressOf(incoming, trustProxy)),
        method: method as Method,
        body,
        upload,
        ifMatch: headers.get("if-match"),
        lockToken: headers.get("x-lock-token"),
        idempotencyKey: headers.get("idempotency-key"),
        requestMode: headers.get("x-request-mode"),
        requestId: exchange.requestId,
        hookDepth: depthFrom(headers.get("x-hook-depth")),
        log: exchange.log,
      };
      const result = await perform({ handler, project: found }, request, { now, newId });
      if (result.file) return await download(exchange, result.file, headers.get("range"));
      return answer(exchange, result, now());
    } catch (error) {
      return failureReply(exchange, error, now(), {
        beside: route.action.besideErrors(body),
        isInline: route.showsErrorsInline,
      });
    }
  };
}

/** The handler of every other path: one below a project counts for its limits. */
export function callNothing(deps: RouteDeps): Handle {
  const admit = createAdmission(deps);
  return async (incoming, exchange) => {
    const [, name = ""] = /^\/api\/([^/]*)\//.exec(incoming.path) ?? [];
    const project = deps.projects.get(name);
    if (project) {
      exchange.place = { project: project.name, endpoint: null, action: null };
      const arrived = { incoming, exchange, project, endpoint: "", action: "" };
      try {
        await admit(arrived);
      } catch (error) {
        if (error instanceof AppError && error.kind === "tooManyRequests") throw error;
      }
    }
    throw nothingHere(deps.basePath);
  };
}

const nothingHere = (basePath: string): AppError =>
  notFound(
    `No resource exists at this path; the actions are at ${basePath}/api/{project}/{endpoint}/{action}, and GET ${basePath || "/"} lists them`,
  );

/**
 * The error for a project that does not exist. It names the one that was probably meant to a caller who may use something there. A
 * request counts for the limits of that project, so that keys cannot be guessed beside them.
 */
export async function unknownProject(
  deps: RouteDeps,
  {
    incoming,
    exchange,
    name,
  }: { readonly incoming: Incoming; readonly exchange: Exchange; readonly name: string },
): Promise<AppError> {
  const near = deps.projects.get(closest(name, deps.projects.keys()) ?? "");
  if (!near?.routes) return unknownName("project", name, []);
  const { endpoints } = near.routes;
  const arrived = { incoming, exchange, project: near, endpoint: "", action: "" };
  const mayKnow = await knows(async () => createAdmission(deps)(arrived), endpoints);
  // The headers of the limit would tell that there is such a project.
  exchange.answerHeaders = {};
  return unknownName("project", name, mayKnow ? [near.name] : []);
}

const knows = (entering: () => Promise<Caller>, endpoints: Routes["endpoints"]): Promise<boolean> =>
  entering().then(
    (caller) => usableEndpoints(endpoints, { caller }).length > 0,
    () => false,
  );

/** The service's own hooks say how deep they are; whoever else says so only gets fewer hooks. */
const depthFrom = (header: string | null): number =>
  header !== null && /^\d$/.test(header) ? Number(header) : 0;

/** The body, or the query of a GET. */
async function payloadOf(incoming: Incoming, options: BodyOptions): Promise<unknown> {
  return incoming.method === "GET"
    ? parseForm(new URL(incoming.url).search.slice(1))
    : readBody(incoming, options);
}
