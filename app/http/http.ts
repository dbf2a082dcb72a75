/**
 * START HERE: the HTTP edge. `createApp(deps)` is the whole service as one Hono app; what differs between runtimes is
 * in `deps`. CORS comes first for projects with origins, then the routes, each wrapped by `inExchange` of
 * `exchange.ts`.
 */
import { Hono, type MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import type { NewId } from "../../core/values/clock.ts";
import { secureHeaders } from "./envelope.ts";
import { inExchange, type ExchangeDeps } from "./exchange.ts";
import { type HealthDeps, isLive, isReady } from "./health.ts";
import { type MetricsDeps, showMetrics } from "./show-metrics.ts";
import { callAction, callNothing, type RouteDeps } from "./routes.ts";

export interface Deps extends RouteDeps, ExchangeDeps, HealthDeps, MetricsDeps {}

export function createApp(deps: Deps): Hono {
  const app = new Hono({ getPath });
  if (deps.corsOrigins.size > 0) {
    app.use("/api/:project/*", allowOrigins(deps.corsOrigins, deps.newId));
  }
  app.all("/api/:project/:endpoint/:action", inExchange(deps, callAction(deps)));
  app.all("/api/:project/:endpoint/:group/:action", inExchange(deps, callAction(deps)));
  app.get("/health/live", inExchange(deps, isLive(deps)));
  app.get("/health/ready", inExchange(deps, isReady(deps)));
  app.get("/metrics", inExchange(deps, showMetrics(deps)));
  app.notFound(inExchange(deps, callNothing(deps)));
  return app;
}

/** The path as it was sent. Hono would decode percent signs first, so that one resource would have many addresses. */
function getPath({ url }: Request): string {
  const start = url.indexOf("/", url.indexOf(":") + 3);
  const end = url.slice(start).search(/[?#]/);
  return end === -1 ? url.slice(start) : url.slice(start, start + end);
}

function allowOrigins(corsOrigins: Deps["corsOrigins"], newId: NewId): MiddlewareHandler {
  const allow = cors({
    origin(origin, c) {
      const allowed = corsOrigins.get(c.req.param("project") ?? "") ?? [];
      return allowed.includes("*") ? "*" : allowed.includes(origin) ? origin : null;
    },
    allowMethods: ["GET", "POST"],
    allowHeaders: [
      "Content-Type",
      "If-Match",
      "X-Request-Id",
      "X-Request-Mode",
      "Idempotency-Key",
      "X-Lock-Token",
      "Authorization",
      "X-Api-Key",
    ],
    exposeHeaders: [
      "ETag",
      "X-Request-Id",
      "Retry-After",
      "Idempotency-Replayed",
      "Content-Disposition",
      "Content-Range",
      "RateLimit",
      "RateLimit-Policy",
    ],
    maxAge: 600,
  });
  return async (c, next) => {
    const preflight = await allow(c, next);
    // Answered by the middleware itself; every other answer has its id already.
    if (preflight) {
      preflight.headers.set("X-Request-Id", newId());
      for (const [name, value] of Object.entries(secureHeaders)) preflight.headers.set(name, value);
    }
    return preflight;
  };
}
