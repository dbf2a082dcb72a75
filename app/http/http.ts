/**
 * START HERE: the HTTP edge. `createApp(deps)` is the whole service; what differs between runtimes is in `deps`. Every
 * request comes as an `Incoming` and leaves as a `Reply`. Finding an action takes no router; Hono finds pages and
 * documents, and answers preflights. All handlers are wrapped by `inExchange` of `exchange.ts`.
 */
import { Hono } from "hono";
import { compressing, packedAnswers } from "./compression.ts";
import { type CorsDeps, createCors } from "./cors.ts";
import { type AnswerRequest, inExchange } from "./exchange.ts";
import { type HealthDeps, isLive, isReady } from "./health.ts";
import { type MetricsDeps, showMetrics } from "./show-metrics.ts";
import { type DashboardDeps, showDashboard } from "./show-dashboard.ts";
import { type DocumentDeps, showProjectDocument, showWholeDocument } from "./openapi.ts";
import { type ClientEnv, type Incoming, pathOf, WebIncoming } from "./incoming.ts";
import { type Reply, toResponse } from "./reply.ts";
import { callAction, callNothing, readActionPath } from "./routes.ts";
import { type AgentDeps, isAgentPath, serveAgents } from "./serve-agents.ts";
import { type Console, type ConsoleDeps, mountConsole } from "./show-console.ts";
import { type Docs, mountDocs } from "./show-docs.ts";
import { odataProjectIn, showOData } from "./show-odata.ts";
import { type FrontPageDeps, showFrontPage, showPageFile } from "./show-front-page.ts";
import { getRoutes, onlyGet, viaHono, visit } from "./via-hono.ts";

export interface Deps
  extends
    AgentDeps,
    CorsDeps,
    DocumentDeps,
    DashboardDeps,
    ConsoleDeps,
    HealthDeps,
    FrontPageDeps,
    MetricsDeps {
  readonly docs: Docs;
  /** False: a proxy compresses long answers of actions. */
  readonly compressesAnswers: boolean;
  readonly console: Console;
  /** Adds the board of jobs. Null: there is none. */
  readonly mountBoard: ((pages: Hono, deps: Deps) => void) | null;
}

export interface App {
  /** Answers every request. Never rejects. */
  readonly answer: AnswerRequest;
  /** The same for servers that have a `Request`. */
  fetch(request: Request, client?: ClientEnv): Promise<Response>;
}

export function createApp(deps: Deps): App {
  const { corsOrigins, basePath } = deps;
  const { preflight, allowing } = createCors(deps);
  const packing = deps.compressesAnswers ? deps.compression : null;
  const call = inExchange(deps, compressing(callAction(deps), packing, packedAnswers));
  const serve = inExchange(deps, compressing(serveAgents(deps), packing, packedAnswers));
  const readOData = inExchange(deps, compressing(showOData(deps), packing, packedAnswers));
  const pages: Hono = new Hono({ getPath: (_, options) => (options!.env as Incoming).path });
  if (corsOrigins.size > 0)
    for (const path of ["/api/:project/*", "/mcp/:project", "/odata/:project/*", "/openapi.json"])
      pages.options(path, preflight);
  addPages(pages, deps);

  const viewPage = (incoming: Incoming): Promise<Reply> => visit(pages, incoming);
  const respondOn = (path: string): AnswerRequest =>
    isAgentPath(path) ? serve : odataProjectIn(path) === null ? viewPage : readOData;

  async function answer(incoming: Incoming): Promise<Reply> {
    const named = readActionPath(incoming.path);
    if (named !== null && !corsOrigins.has(named.project)) return call(incoming);
    if (corsOrigins.size > 0 && incoming.method === "OPTIONS") return viewPage(incoming);
    const reply = await (named ? call : respondOn(incoming.path))(incoming);
    return corsOrigins.size === 0 ? reply : allowing(incoming, reply);
  }

  return {
    answer,
    fetch: async (request, client = {}) =>
      toResponse(
        await answer(new WebIncoming(request, pathBelow(basePath, request, client), client)),
      ),
  };
}

function addPages(pages: Hono, deps: Deps): void {
  getRoutes(pages, deps, {
    "/openapi.json": showWholeDocument(deps),
    "/health/live": isLive(deps),
    "/health/ready": isReady(deps),
    "/metrics": showMetrics(deps),
    "/": showFrontPage(deps),
    "/assets/:file": showPageFile(),
  });
  const ofProjects = {
    "/api/:project/openapi.json": showProjectDocument(deps),
    "/api/:project/dashboard.json": showDashboard(deps),
    "/api/:project/:endpoint/openapi.json": showProjectDocument(deps),
  };
  getRoutes(pages, deps, ofProjects, callNothing(deps, onlyGet));
  mountDocs(pages, deps.docs, deps);
  mountConsole(pages, deps.console, deps);
  deps.mountBoard?.(pages, deps);
  pages.notFound(viaHono(inExchange(deps, callNothing(deps))));
}

/**
 * The path below the one at which the service is mounted. Other paths get a doubled slash, which matches no route. The
 * service's own calls always use the root.
 */
function pathBelow(basePath: string, { url }: Request, { isOwn = false }: ClientEnv): string {
  const path = pathOf(url);
  if (basePath === "" || isOwn) return path;
  if (path === basePath) return "/";
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : `/${path}`;
}
