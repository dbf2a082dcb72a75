/** The API's one route: find the action, read the body, run it, wrap the answer. */
import type { Context } from "hono";
import type { Method } from "../../core/calls/action.ts";
import {
  findProject,
  findRoute,
  perform,
  placeIn,
  type Project,
  type Projects,
} from "../../core/dispatch.ts";
import type { Clock, NewId } from "../../core/values/clock.ts";
import { AppError, notFound } from "../../core/values/errors.ts";
import { type Caller, nobody, shareOf } from "../../core/plans/caller.ts";
import { addressOf, isOwnCall } from "./client-address.ts";
import { type BodyOptions, readBody } from "./body.ts";
import { download } from "./download.ts";
import { answer, failureResponse } from "./envelope.ts";
import type { Exchange, Handle } from "./exchange.ts";
import { parseForm } from "./form.ts";
import { checkOrigin } from "./guard.ts";
import type { RateLimiter } from "./rate-limit.ts";
import { readUpload } from "./read-upload.ts";

export interface RouteDeps {
  readonly projects: Projects;
  readonly now: Clock;
  readonly newId: NewId;
  readonly bodyLimitBytes: number;
  /** How long a client may take to send a body. */
  readonly bodyTimeoutMs: number;
  /** The origins whose pages may call each project; a project without an entry allows none. */
  readonly corsOrigins: ReadonlyMap<string, readonly string[]>;
  /** By project; one that is not in it limits nobody. */
  readonly rateLimiters: ReadonlyMap<string, RateLimiter>;
  /** Proxies before the service, whose word counts for the address of the client. */
  readonly trustProxy: number;
}

/**
 * The handler of `/api/:project/:endpoint/:action`, and of paths with one more segment for actions such as
 * `lock/acquire`, for every method.
 */
export function callAction(deps: RouteDeps): Handle {
  const { projects, now, newId, bodyLimitBytes: bytesMax, bodyTimeoutMs: timeoutMs } = deps;
  const { corsOrigins, trustProxy } = deps;
  const admit = createAdmission(deps);
  return async (c, exchange) => {
    const { project = "", endpoint = "", group, action: last = "" } = c.req.param();
    const action = group === undefined ? last : `${group}/${last}`;
    const found = findProject(projects, project);
    exchange.place = placeIn(found, { endpoint, action });
    const caller = await admit({ c, exchange, project: found, endpoint, action });
    // No name that a path holds needs one, and the parameters above have lost it.
    if (c.req.path.includes("%")) throw nothingHere();
    const route = findRoute(found, { endpoint, action, method: c.req.method });
    // Permission is checked before the body is read.
    const handler = route.handlerFor(caller);
    let body: unknown;
    try {
      if (c.req.method === "POST") checkOrigin(c.req.raw, corsOrigins.get(project) ?? []);
      const { takesForm, takesUpload } = route.action;
      const upload = takesUpload ? await readUpload(c.req.raw, timeoutMs) : null;
      if (!upload) body = await payloadOf(c, { bytesMax, timeoutMs, takesForm });
      const request = {
        caller,
        share: shareOf(caller, addressOf(c, trustProxy)),
        method: c.req.method as Method,
        body,
        upload,
        ifMatch: c.req.header("If-Match") ?? null,
        lockToken: c.req.header("X-Lock-Token") ?? null,
        idempotencyKey: c.req.header("Idempotency-Key") ?? null,
        requestMode: c.req.header("X-Request-Mode") ?? null,
        requestId: exchange.requestId,
        hookDepth: depthFrom(c.req.header("X-Hook-Depth")),
        log: exchange.log,
      };
      const result = await perform({ handler, project: found }, request, { now, newId });
      if (result.file) return await download(exchange, result.file, c.req.header("Range"));
      return answer(exchange, result, now());
    } catch (error) {
      return failureResponse(exchange, error, now(), {
        beside: route.action.besideErrors(body),
        isInline: route.showsErrorsInline,
      });
    }
  };
}

/** The handler of every other path: one below a project counts for its limits. */
export function callNothing(deps: RouteDeps): Handle {
  const admit = createAdmission(deps);
  return async (c, exchange) => {
    const [, name = ""] = /^\/api\/([^/]*)\//.exec(c.req.path) ?? [];
    const project = deps.projects.get(name);
    if (project) {
      exchange.place = { project: project.name, endpoint: null, action: null };
      await admit({ c, exchange, project, endpoint: "", action: "" }).catch((error: unknown) => {
        if (error instanceof AppError && error.kind === "tooManyRequests") throw error;
      });
    }
    throw nothingHere();
  };
}

const nothingHere = (): AppError => notFound("No resource exists at this path");

interface Arrived {
  readonly c: Context;
  readonly exchange: Exchange;
  readonly project: Project;
  readonly endpoint: string;
  readonly action: string;
}

/**
 * Finds out who sends a request, and counts it; without known credentials it counts for the address. Rejects with `tooManyRequests`, or as
 * `authenticate` does: who may not come in must not learn more by being fast.
 */
function createAdmission({ rateLimiters, trustProxy }: RouteDeps) {
  return async ({ c, exchange, project, endpoint, action }: Arrived): Promise<Caller> => {
    const limiter = isOwnCall(c) ? undefined : rateLimiters.get(project.name);
    if (!limiter) return project.callers.authenticate(c.req.raw.headers);
    const known = await outcomeOf(async () => project.callers.authenticate(c.req.raw.headers));
    const share = shareOf("value" in known ? known.value : nobody, addressOf(c, trustProxy));
    const { headers, refusal } = await limiter.count({ share, endpoint, action });
    exchange.answerHeaders = headers;
    if (refusal) throw refusal;
    if ("error" in known) throw known.error;
    return known.value;
  };
}

const outcomeOf = <Value>(
  work: () => Promise<Value>,
): Promise<{ readonly value: Value } | { readonly error: unknown }> =>
  work().then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );

/** The service's own hooks say how deep they are; whoever else says so only gets fewer hooks. */
const depthFrom = (header: string | undefined): number =>
  header !== undefined && /^\d$/.test(header) ? Number(header) : 0;

/** The body, or the query of a GET. */
async function payloadOf({ req }: Context, options: BodyOptions): Promise<unknown> {
  return req.method === "GET"
    ? parseForm(new URL(req.url).search.slice(1))
    : readBody(req.raw, options);
}
