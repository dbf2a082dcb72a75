/**
 * START HERE: the HTTP edge. `createApp(deps)` is the whole service; what differs between runtimes is in `deps`. Actions are answered
 * straight away: finding their path takes no router. Everything else is routed by Hono, and so are actions of projects
 * whose answers need CORS headers. All handlers are wrapped by `inExchange` of `exchange.ts`.
 */
import { Hono, type MiddlewareHandler } from "hono";
import { cors } from "hono/cors";

import { secureHeaders } from "./envelope.ts";
import { type AnswerRequest, inExchange } from "./exchange.ts";
import { getRoutes } from "./get-routes.ts";
import { type HealthDeps, isLive, isReady } from "./health.ts";
import { type MetricsDeps, showMetrics } from "./show-metrics.ts";
import { type DocumentDeps, showProjectDocument, showWholeDocument } from "./openapi.ts";
import { type ClientEnv, pathOf, WebIncoming } from "./incoming.ts";
import { toResponse } from "./reply.ts";
import { callAction, callNothing, readActionPath } from "./routes.ts";
import { type Console, type ConsoleDeps, mountConsole } from "./show-console.ts";
import { type Docs, mountDocs } from "./show-docs.ts";
import { type FrontPageDeps, showFrontPage, showPageFile } from "./show-front-page.ts";
import { viaHono } from "./via-hono.ts";

export interface Deps extends DocumentDeps, ConsoleDeps, HealthDeps, FrontPageDeps, MetricsDeps {
  readonly docs: Docs;
  readonly console: Console;
}

export interface App {
  fetch(request: Request, client?: ClientEnv): Promise<Response>;
  /**
   * What answers a request for the action at a path, for servers that have no `Request`. Null: `fetch` answers it, because there is no action at
   * such a path, or the answer needs more than the action says.
   */
  actionAt(path: string): AnswerRequest | null;
  /** For pages beside those that are here. */
  readonly pages: Hono;
}

export function createApp(deps: Deps): App {
  const { corsOrigins } = deps;
  const pathIn = pathBelow(deps.basePath);
  const call = inExchange(deps, callAction(deps));
  const pages = createPages(deps, { pathIn, call });

  function actionAt(path: string): AnswerRequest | null {
    const named = readActionPath(path);
    // Hono adds what other origins need.
    return named === null || corsOrigins.has(named.project) ? null : call;
  }

  return {
    pages,
    actionAt: deps.basePath === "" ? actionAt : () => null,
    async fetch(request, client = {}) {
      const path = pathIn(request.url, client);
      // Hono answers HEAD as GET without its body.
      const answer = request.method === "HEAD" ? null : actionAt(path);
      return answer
        ? toResponse(await answer(new WebIncoming(request, path, client)))
        : pages.fetch(request, client);
    },
  };
}

/** The path below the one at which the service is mounted. */
type PathIn = (url: string, client: ClientEnv) => string;

interface Parts {
  readonly pathIn: PathIn;
  readonly call: AnswerRequest;
}

function createPages(deps: Deps, { pathIn, call }: Parts): Hono {
  const getPath = ({ url }: Request, options?: { readonly env?: unknown }): string =>
    pathIn(url, (options?.env as ClientEnv | undefined) ?? {});
  const app = new Hono({ getPath });
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
  app.all("/api/:project/:endpoint/:action", viaHono(call));
  app.all("/api/:project/:endpoint/:group/:action", viaHono(call));
  mountDocs(app, deps.docs, deps);
  mountConsole(app, deps.console, deps);
  app.notFound(viaHono(inExchange(deps, callNothing(deps))));
  return app;
}

/**
 * The path without the one below which the service is mounted. What is elsewhere gets a doubled slash, which no route has. The
 * service's own calls are always from the root.
 */
function pathBelow(basePath: string): PathIn {
  if (basePath === "") return pathOf;
  return (url, { isOwn = false }) => {
    const path = pathOf(url);
    if (isOwn) return path;
    if (path === basePath) return "/";
    return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : `/${path}`;
  };
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
