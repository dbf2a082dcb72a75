/**
 * START HERE: the HTTP edge. `createApp(deps)` is the whole service as one Hono app; what differs between runtimes is in
 * `deps`. Order: request id and log, CORS, then the routes, then one place for every error.
 */
import { Hono, type MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { notFound } from "../core/errors.ts";
import type { Log } from "../core/ports.ts";
import { failure } from "./envelope.ts";
import { healthRoutes } from "./health.ts";
import { apiRoutes, type RouteDeps } from "./routes.ts";
import type { Variables } from "./variables.ts";

export interface Deps extends RouteDeps {
  /** A logger whose children's lines all carry the child's fields. */
  readonly log: { child(fields: object): Log };
  /** Project to the origins whose pages may call it; a project that is not in it allows none. */
  readonly corsOrigins: ReadonlyMap<string, readonly string[]>;
}

export type App = Hono<{ Variables: Variables }>;

export function createApp(deps: Deps): App {
  const app: App = new Hono();
  app.use(accompany(deps));
  if (deps.corsOrigins.size > 0) app.use("/api/:project/*", allowOrigins(deps.corsOrigins));
  app.route("/health", healthRoutes(deps.projects, deps.now));
  app.route("/api", apiRoutes(deps));
  const nothingHere = notFound("There is nothing at this path");
  app.notFound((c) => failure(c, nothingHere, deps.now()));
  app.onError((error, c) => failure(c, error, deps.now()));
  return app;
}

/** Gives the request an id, and logs how it ended. */
function accompany({ log, newId }: Deps): MiddlewareHandler<{ Variables: Variables }> {
  return async (c, next) => {
    const startedMs = performance.now();
    const requestId = idFrom(c.req.header("X-Request-Id")) ?? newId();
    const requestLog = log.child({ requestId });
    c.set("requestId", requestId);
    c.set("log", requestLog);
    await next();
    // Hono's CORS answers a preflight itself, past the envelope.
    if (c.req.method === "OPTIONS") c.res.headers.set("X-Request-Id", requestId);
    const durationMs = Math.round((performance.now() - startedMs) * 10) / 10;
    requestLog.info(
      { method: c.req.method, path: c.req.path, status: c.res.status, durationMs },
      "request",
    );
  };
}

/** A caller's own id is kept when it is short and plain, so that it cannot forge lines of the log. */
function idFrom(header: string | undefined): string | null {
  return header !== undefined && /^[\w.-]{1,64}$/.test(header) ? header : null;
}

function allowOrigins(corsOrigins: Deps["corsOrigins"]): MiddlewareHandler {
  return cors({
    origin(origin, c) {
      const allowed = corsOrigins.get(c.req.param("project") ?? "") ?? [];
      return allowed.includes(origin) ? origin : null;
    },
    allowMethods: ["GET", "POST"],
    allowHeaders: ["Content-Type", "If-Match", "X-Request-Id", "X-Request-Mode", "Idempotency-Key"],
    exposeHeaders: ["ETag", "X-Request-Id", "Retry-After"],
    maxAge: 600,
  });
}
