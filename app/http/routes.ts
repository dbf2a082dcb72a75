/** The API's one route: find the action, read the body, run it, wrap the answer. */
import type { Context } from "hono";
import type { Method } from "../../core/calls/action.ts";
import { findProject, findRoute, perform, type Projects } from "../../core/dispatch.ts";
import type { Clock, NewId } from "../../core/values/clock.ts";
import { notFound } from "../../core/values/errors.ts";
import { shareOf } from "../../core/plans/caller.ts";
import { addressOf } from "./client-address.ts";
import { type BodyOptions, readBody } from "./body.ts";
import { download } from "./download.ts";
import { answer, failureResponse } from "./envelope.ts";
import type { Handle } from "./exchange.ts";
import { parseForm } from "./form.ts";
import { checkOrigin } from "./guard.ts";
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
}

/**
 * The handler of `/api/:project/:endpoint/:action`, and of paths with one more segment for actions such as
 * `lock/acquire`, for every method.
 */
export function callAction(deps: RouteDeps): Handle {
  const { projects, now, newId, bodyLimitBytes: bytesMax, bodyTimeoutMs: timeoutMs } = deps;
  const { corsOrigins } = deps;
  return async (c, exchange) => {
    // No valid name needs a percent sign, and the parameters below are already decoded.
    if (c.req.path.includes("%")) throw notFound("No resource exists at this path");
    const { project = "", endpoint = "", group, action: last = "" } = c.req.param();
    const action = group === undefined ? last : `${group}/${last}`;
    const found = findProject(projects, project);
    const caller = await found.callers.authenticate(c.req.raw.headers);
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
        share: shareOf(caller, addressOf(c)),
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

/** The service's own hook calls state their depth. A client that sends this header only gets fewer hooks. */
const depthFrom = (header: string | undefined): number =>
  header !== undefined && /^\d$/.test(header) ? Number(header) : 0;

/** The body, or the query of a GET. */
async function payloadOf({ req }: Context, options: BodyOptions): Promise<unknown> {
  return req.method === "GET"
    ? parseForm(new URL(req.url).search.slice(1))
    : readBody(req.raw, options);
}
