/**
 * `/openapi.json` and `/api/:project/openapi.json`: what the API takes and answers, as the caller may use it. Without
 * credentials a project that asks for them shows that it does, and none of its paths.
 */
import type { Project, Routes } from "../../core/dispatch.ts";
import type { DescribedProject, OpenApiDocument } from "../../core/openapi/describe.ts";
import type { ProjectTraits } from "../../core/openapi/traits.ts";
import type { Caller } from "../../core/plans/caller.ts";
import { AppError } from "../../core/values/errors.ts";
import { respond, secureHeaders } from "./envelope.ts";
import type { Exchange, Handle } from "./exchange.ts";
import type { Incoming } from "./incoming.ts";
import {
  createDocumentFinder,
  type FindDocument,
  type KeptDocument,
  numberOfRoutes,
} from "./kept-documents.ts";
import { createAdmission } from "./admission.ts";
import type { Reply } from "./reply.ts";
import { type RouteDeps, unknownProject } from "./routes.ts";

export interface DocumentDeps extends RouteDeps {
  /** By project. */
  readonly traits: ReadonlyMap<string, ProjectTraits>;
  /** A cryptographic hash as hexadecimal text. */
  readonly digest: (text: string) => string;
}

/** The document of one project. */
export function showProjectDocument(deps: DocumentDeps): Handle {
  const visit = createVisit(deps);
  const find = createDocumentFinder();
  return async (incoming, exchange) => {
    const [, , name = ""] = incoming.path.split("/");
    const project = deps.projects.get(name);
    if (!project) throw await unknownProject(deps, { incoming, exchange, name });
    const visited = await visit(incoming, exchange, project);
    // Credentials that are wrong are no reason to show less without a word.
    if (visited.refusal && hasCredentials(incoming)) throw visited.refusal;
    return showDocument(incoming, exchange, {
      key: keyOf([visited]) && `project ${keyOf([visited])}`,
      digest: deps.digest,
      find,
      build: async () => {
        const { describeProject } = await import("../../core/openapi/describe.ts");
        return describeProject(describedOf(visited, deps), { serverUrl: deps.basePath || "/" });
      },
    });
  };
}

/** The document of all projects, and of what stands beside them. */
export function showWholeDocument(deps: DocumentDeps): Handle {
  const visit = createVisit(deps);
  const find = createDocumentFinder();
  return async (incoming, exchange) => {
    const visits: Visit[] = [];
    for (const project of deps.projects.values())
      visits.push(await visit(incoming, exchange, project));
    // The headers of a limit would tell of a project that the caller may not know.
    exchange.answerHeaders = {};
    return showDocument(incoming, exchange, {
      key: keyOf(visits),
      digest: deps.digest,
      find,
      build: async () => {
        const { describeProjects } = await import("../../core/openapi/describe.ts");
        const described = visits.map((one) => describedOf(one, deps));
        return describeProjects(described, { serverUrl: deps.basePath || "/" });
      },
    });
  };
}

/** A caller at a project. */
interface Visit {
  readonly project: Project;
  /** As they were when the request came. */
  readonly routes: Routes | null;
  /** Null: the project does not know who asks, and says so in `refusal`. */
  readonly caller: Caller | null;
  readonly refusal?: AppError;
}

/** Counts the request for the limits of the project. Rejects as an action does, but for missing or wrong credentials. */
function createVisit(deps: DocumentDeps) {
  const admit = createAdmission(deps);
  return async (incoming: Incoming, exchange: Exchange, project: Project): Promise<Visit> => {
    const { routes } = project;
    try {
      const arrived = { incoming, exchange, project, endpoint: "", action: "openapi.json" };
      const caller = await admit(arrived);
      return { project, routes, caller };
    } catch (error) {
      if (!(error instanceof AppError && error.kind === "unauthorized")) throw error;
      return { project, routes, caller: null, refusal: error };
    }
  };
}

const hasCredentials = ({ headers }: Incoming): boolean =>
  headers.get("x-api-key") !== null || headers.get("authorization") !== null;

const describedOf = (
  { project: { name }, routes, caller }: Visit,
  { traits }: DocumentDeps,
): DescribedProject => ({
  name,
  routes,
  traits: traits.get(name) ?? { credentials: null, rateLimit: null },
  viewOf: caller && ((bound) => bound.viewFor(caller)),
});

/** Equal for equal documents; null where there are no paths, which takes no time to say. */
function keyOf(visits: readonly Visit[]): string | null {
  const parts = visits.map(({ project: { name }, routes, caller }) =>
    routes && caller ? [name, numberOfRoutes(routes), routes.rightsKeyOf(caller)] : [name],
  );
  return parts.every((part) => part.length === 1) ? null : JSON.stringify(parts);
}

interface Shown {
  /** Null: it is not kept. */
  readonly key: string | null;
  readonly digest: DocumentDeps["digest"];
  readonly find: FindDocument;
  build(): Promise<OpenApiDocument>;
}

async function showDocument(
  incoming: Incoming,
  exchange: Exchange,
  { key, digest, find, build }: Shown,
): Promise<Reply> {
  const make = async (): Promise<KeptDocument> => {
    const text = JSON.stringify(await build());
    return { text, etag: `"${digest(text).slice(0, 32)}"` };
  };
  const { text, etag } = await (key === null ? make() : find(key, make));
  const headers = {
    ETag: etag,
    // It may be kept, and is asked for again each time.
    "Cache-Control": "private, no-cache",
    Vary: "X-Api-Key, Authorization",
  };
  const known = incoming.headers.get("if-none-match")?.split(",") ?? [];
  if (!known.some((tag) => tag.trim().replace(/^W\//, "") === etag))
    return respond(exchange, { status: 200, text }, headers);
  const { requestId, answerHeaders } = exchange;
  return {
    status: 304,
    headers: { "X-Request-Id": requestId, ...secureHeaders, ...answerHeaders, ...headers },
    body: null,
  };
}
