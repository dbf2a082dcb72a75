/**
 * `GET /`: what runs here, for people as a page and for programs as JSON. Both contain what the caller may use; without
 * credentials, a project with `auth` is not mentioned.
 */
import { toolNames } from "../../core/agents/agent-tools.ts";
import type { Context } from "hono";
import { accepts } from "hono/accepts";
import type { Project, Projects } from "../../core/dispatch.ts";
import { messagesIn } from "../../core/calls/wording.ts";
import { languageFor } from "../../core/plans/messages.ts";
import { dashboardIn, tilesFor } from "../../core/tiles.ts";
import type { Caller } from "../../core/plans/caller.ts";
import { menuFor } from "../../core/openapi/menu.ts";
import type { Runtime } from "../../core/plans/runtime.ts";
import { AppError, notFound } from "../../core/values/errors.ts";
import { frontPage, type PageLink, type ShownProject } from "../pages/front-page.ts";
import { pageFiles } from "../pages/page-files.ts";
import { type AdmissionDeps, createAdmission } from "./admission.ts";
import { json } from "./envelope.ts";
import type { Exchange, Handle } from "./exchange.ts";
import type { Incoming } from "./incoming.ts";
import type { DashboardDeps } from "./show-dashboard.ts";
import { fileAnswer, pageAnswer, plainPagePolicy } from "./page-answer.ts";

/** What the service has beside the API. */
export interface Extras {
  readonly version: string;
  readonly docs: boolean;
  readonly console: boolean;
  readonly jobsBoard: boolean;
}

export interface FrontPageDeps
  extends AdmissionDeps, Pick<Runtime, "now" | "basePath">, Pick<DashboardDeps, "dashboards"> {
  readonly projects: Projects;
  readonly extras: Extras;
}

interface Page extends PageLink {
  /** Its name in the JSON answer. */
  readonly name: string;
  readonly isThere: boolean;
}

/** What can be visited beside the API; this list decides which of these exist. */
const pagesOf = ({ docs, console, jobsBoard }: Extras): readonly Page[] => [
  {
    name: "console",
    title: "Console",
    text: "see and edit records",
    path: "/console",
    isThere: console,
  },
  {
    name: "docs",
    title: "Documentation",
    text: "every endpoint and action, to read and try",
    path: "/docs",
    isThere: docs,
  },
  {
    name: "openapi",
    title: "OpenAPI document",
    text: "the same for programs",
    path: "/openapi.json",
    isThere: true,
  },
  {
    name: "jobs_board",
    title: "Jobs",
    text: "exports and imports, for operators",
    path: "/jobs-board",
    isThere: jobsBoard,
  },
  {
    name: "ready",
    title: "Health",
    text: "whether the databases answer",
    path: "/health/ready",
    isThere: true,
  },
];

const signIn =
  "Send an API key in the header X-Api-Key, or a token in the header Authorization: Bearer";

export function showFrontPage(deps: FrontPageDeps): Handle {
  const { now, extras, basePath } = deps;
  const pages = pagesOf(extras).filter(({ isThere }) => isThere);
  return async (incoming, exchange) => {
    const { projects, isPartial, isInLanguages } = await seenBy(deps, incoming, exchange);
    // Without visible projects, the answer says only that the service runs.
    const version = isPartial && projects.length === 0 ? null : extras.version;
    const links = pages.filter(({ name }) => version !== null || name !== "jobs_board");
    const headers = { Vary: isInLanguages ? "Accept, Accept-Language" : "Accept" };
    if (!wantsPage(incoming)) {
      const body = {
        success: true,
        service: "rowgate",
        ...(version !== null && { version }),
        projects,
        ...(isPartial && { sign_in: signIn }),
        links: Object.fromEntries(links.map(({ name, path }) => [name, `${basePath}${path}`])),
        timestamp: now(),
      };
      return json(exchange, 200, body, headers);
    }
    const text = await frontPage({
      version,
      basePath,
      projects,
      signIn: isPartial ? signIn : null,
      links,
      example: exampleFor(projects, {
        origin: originOf(incoming, deps),
        sendsKey: incoming.headers.get("x-api-key") !== null,
      }),
    });
    return pageAnswer(exchange, { text, policy: plainPagePolicy, headers });
  };
}

function wantsPage({ headers }: Incoming): boolean {
  // The only parts of a context that the function reads.
  const context = {
    req: { header: (name: string) => headers.get(name.toLowerCase()) ?? undefined },
  };
  const type = accepts(context as unknown as Context, {
    header: "Accept",
    supports: ["application/json", "text/html"],
    default: "application/json",
  });
  return type === "text/html";
}

interface Seen {
  readonly projects: readonly ShownProject[];
  /** Some project asks for credentials, and no project knows the caller. */
  readonly isPartial: boolean;
  /** Names of its endpoints are in the language of the client. */
  readonly isInLanguages: boolean;
}

/** Rejects with `unauthorized` for credentials that no project accepts, and with `tooManyRequests`. */
async function seenBy(deps: FrontPageDeps, incoming: Incoming, exchange: Exchange): Promise<Seen> {
  const admit = createAdmission(deps);
  const projects: ShownProject[] = [];
  const kinds = new Set<Caller["kind"]>();
  let refusal: AppError | null = null;
  let isInLanguages = false;
  for (const project of deps.projects.values()) {
    try {
      const caller = await admit({ incoming, exchange, project });
      kinds.add(caller.kind);
      const messages = project.routes ? messagesIn(project.routes) : new Map();
      isInLanguages ||= messages.size > 0;
      const language = languageFor(incoming.headers.get("accept-language"), messages);
      projects.push(...shownTo({ caller, language }, project, deps));
    } catch (error) {
      if (!(error instanceof AppError) || error.kind !== "unauthorized") throw error;
      refusal = error;
    }
  }
  // The headers of a limit would reveal a project that the caller must not know.
  exchange.answerHeaders = {};
  const isKnown = kinds.has("key") || kinds.has("token");
  const hasCredentials = ["x-api-key", "authorization"].some((name) => incoming.headers.get(name));
  if (refusal !== null && hasCredentials && !isKnown) throw refusal;
  const isPartial = !isKnown && (refusal !== null || kinds.has("anonymous"));
  return { projects, isPartial, isInLanguages };
}

/** The project, or nothing; also a project whose database is not reached yet, if it needs no credentials. */
function shownTo(
  client: { readonly caller: Caller; readonly language: string },
  { name, routes }: Project,
  { basePath, dashboards }: Pick<FrontPageDeps, "basePath" | "dashboards">,
): readonly ShownProject[] {
  const { caller } = client;
  if (routes === null)
    return caller.kind === "nobody" ? [{ name, status: "unavailable", endpoints: [] }] : [];
  const endpoints = menuFor(routes.endpoints, client).map(({ name: endpoint, ...entry }) => ({
    name: endpoint,
    path: `${basePath}/api/${name}/${endpoint}`,
    ...entry,
  }));
  const dashboard = dashboards.get(name);
  const hasTiles = dashboard !== undefined && tilesFor(dashboard, routes, client).length > 0;
  const hasTools = routes.agents !== null && toolNames(routes.agents, caller).length > 0;
  const isShown = endpoints.length > 0 || caller.kind === "nobody";
  return isShown
    ? [
        {
          name,
          status: "ready",
          endpoints,
          ...(hasTiles && {
            dashboard: {
              title: dashboardIn(client.language, dashboard, routes).title,
              path: `${basePath}/api/${name}/dashboard.json`,
            },
          }),
          ...(hasTools && { agents: { path: `${basePath}/mcp/${name}` } }),
        },
      ]
    : [];
}

/** Reads the first list that the caller can read. A host name with characters special to a shell is replaced. */
function exampleFor(
  projects: readonly ShownProject[],
  { origin, sendsKey }: { readonly origin: string; readonly sendsKey: boolean },
): string | null {
  const readable = projects
    .flatMap(({ endpoints }) => endpoints)
    .find(({ actions }) => actions.includes("read"));
  if (!readable) return null;
  const shown = /^https?:\/\/[\w.:[\]-]+$/.test(origin) ? origin : "http://localhost:3000";
  const key = sendsKey ? ` \\\n  -H "X-Api-Key: $API_KEY"` : "";
  return `curl -s ${shown}${readable.path}/read${key} \\\n  -H 'Content-Type: application/json' -d '{"limit": 3}'`;
}

/** The protocol of the client's request. A proxy that terminates TLS names it in `X-Forwarded-Proto`. */
export function originOf({ url, headers }: Incoming, { trustProxy }: AdmissionDeps): string {
  const { origin, host } = new URL(url);
  const isSecure = trustProxy > 0 && headers.get("x-forwarded-proto") === "https";
  return isSecure ? `https://${host}` : origin;
}

/** The files of the service's own pages. */
export function showPageFile(): Handle {
  return (incoming, exchange) => {
    const file = pageFiles.get(incoming.path.slice(1));
    if (!file) throw notFound("No resource exists at this path");
    return fileAnswer(exchange, file);
  };
}
