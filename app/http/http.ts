/**
 * START HERE: the HTTP edge. `createApp(deps)` is the whole service as one Hono app; what differs between runtimes is
 * in `deps`. CORS comes first for projects with origins, then the routes, each wrapped by `inExchange` of
 * `exchange.ts`.
 */
import { Hono, type MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import type { ClientEnv } from "./client-address.ts";
import { secureHeaders } from "./envelope.ts";
import { inExchange } from "./exchange.ts";
import { getRoutes } from "./get-routes.ts";
import { type HealthDeps, isLive, isReady } from "./health.ts";
import { type MetricsDeps, showMetrics } from "./show-metrics.ts";
import { type DocumentDeps, showProjectDocument, showWholeDocument } from "./openapi.ts";
import { callAction, callNothing } from "./routes.ts";
import { type Console, type ConsoleDeps, mountConsole } from "./show-console.ts";
import { type Docs, mountDocs } from "./show-docs.ts";
import { type FrontPageDeps, showFrontPage, showPageFile } from "./show-front-page.ts";

export interface Deps extends DocumentDeps, ConsoleDeps, HealthDeps, FrontPageDeps, MetricsDeps {
  readonly docs: Docs;
  readonly console: Console;
}

export function createApp(deps: Deps): Hono {
  const app = new Hono({ getPath: pathBelow(deps.basePath) });
  if (deps.corsOrigins.size > 0) {
    app.use(
      "/api/:project/*",
      allowOrigins(deps, (project) => [project]),
    );
    app.use(
      "/openapi.json",
      allowOrigins(deps, () => deps.projects.keys()),
    );
  }
  getRoutes(app, deps, {
    "/openapi.json": showWholeDocument(deps),
    "/api/:project/openapi.json": showProjectDocument(deps),
    "/health/live": isLive(deps),
    "/health/ready": isReady(deps),
    "/metrics": showMetrics(deps),
    "/": showFrontPage(deps),
    "/assets/:file": showPageFile(),
  });
  app.all("/api/:project/:endpoint/:action", inExchange(deps, callAction(deps)));
  app.all("/api/:project/:endpoint/:group/:action", inExchange(deps, callAction(deps)));
  mountDocs(app, deps.docs, deps);
  mountConsole(app, deps.console, deps);
  app.notFound(inExchange(deps, callNothing(deps)));
  return app;
}

/**
 * The path without the one below which the service is mounted. What is elsewhere gets a doubled slash, which no route has. The
 * service's own calls are always from the root.
 */
function pathBelow(basePath: string) {
  if (basePath === "") return getPath;
  return (request: Request, options?: { readonly env?: unknown }): string => {
    const path = getPath(request);
    if ((options?.env as ClientEnv | undefined)?.isOwn) return path;
    if (path === basePath) return "/";
    return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : `/${path}`;
  };
}

/** The path as it was sent. Hono would decode percent signs first, so that one resource would have many addresses. */
function getPath({ url }: Request): string {
  const start = url.indexOf("/", url.indexOf(":") + 3);
  const end = url.slice(start).search(/[?#]/);
  return end === -1 ? url.slice(start) : url.slice(start, start + end);
}

/** `projectsOf`: what the answer is about; a page may read it if all of these projects allow its origin. */
function allowOrigins(
  { corsOrigins, newId }: Pick<Deps, "corsOrigins" | "newId">,
  projectsOf: (project: string) => Iterable<string>,
): MiddlewareHandler {
  const allow = cors({
    origin(origin, c) {
      const names = [...projectsOf(c.req.param("project") ?? "")];
      const lists = names.map((name) => corsOrigins.get(name) ?? []);
      if (lists.every((allowed) => allowed.includes("*"))) return "*";
      const isAllowed = lists.every((list) => list.includes("*") || list.includes(origin));
      return isAllowed ? origin : null;
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
      "traceparent",
      "tracestate",
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
      "Server-Timing",
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
