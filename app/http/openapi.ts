/**
 * `/openapi.json`, `/api/:project/openapi.json` and `/api/:project/:endpoint/openapi.json`: the API as the caller can
 * use it. Without credentials, the document of a project with `auth` has no paths, only the ways to send credentials.
 */
import { checkEndpoint, type Project, type Routes } from "../../core/dispatch.ts";
import type { DescribedProject, OpenApiDocument } from "../../core/openapi/describe.ts";
import { labelledIn, messagesIn } from "../../core/calls/wording.ts";
import { languageFor } from "../../core/plans/messages.ts";
import type { ProjectTraits } from "../../core/openapi/traits.ts";
import type { Caller } from "../../core/plans/caller.ts";
import { AppError, invalidParameter } from "../../core/values/errors.ts";
import { gzipHeaders, takesGzip } from "./compression.ts";
import { headersOf } from "./envelope.ts";
import type { Exchange, Handle } from "./exchange.ts";
import type { Incoming } from "./incoming.ts";
import type { PageDeps } from "./via-hono.ts";
import {
  createDocumentFinder,
  type FindDocument,
  type KeptDocument,
  numberOfRoutes,
} from "./kept-documents.ts";
import type { Runtime } from "../../core/plans/runtime.ts";
import { createAdmission, hasCredentials } from "./admission.ts";
import type { Reply } from "./reply.ts";
import { type RouteDeps, unknownProject } from "./routes.ts";

export interface DocumentDeps
  extends RouteDeps, Pick<Runtime, "digest">, Pick<PageDeps, "compression"> {
  /** By project. */
  readonly traits: ReadonlyMap<string, ProjectTraits>;
}

/** The document of one project, or of one of its endpoints, as the path says. */
export function showProjectDocument(deps: DocumentDeps): Handle {
  const visit = createVisit(deps);
  const find = createDocumentFinder();
  return async (incoming, exchange) => {
    const [, , name = "", ...rest] = incoming.path.split("/");
    const endpoint = rest.length > 1 ? rest[0]! : null;
    const project = deps.projects.get(name);
    const options = { serverUrl: deps.basePath || "/", ...(endpoint !== null && { endpoint }) };
    const show = (
      described: DescribedProject,
      key: string | null,
      isInLanguages = false,
    ): Promise<Reply> =>
      showDocument(incoming, exchange, {
        key,
        isInLanguages,
        deps,
        find,
        build: ({ describeProject }) => describeProject(described, options),
      });
    if (!project) {
      const error = await unknownProject(deps, { incoming, exchange, name }).catch(
        (refusal: AppError) => refusal,
      );
      if (error.kind !== "unauthorized" || hasCredentials(incoming)) throw error;
      // A project that exists would answer with a document without paths, too.
      const [traits = noTraits] = deps.traits.values();
      return show({ name, routes: null, traits, viewOf: null }, null);
    }
    const visited = await visit(incoming, exchange, project);
    // With wrong credentials, a shorter document would hide the mistake.
    if (visited.refusal && hasCredentials(incoming)) throw visited.refusal;
    const { caller, routes } = visited;
    // A caller that the project does not know gets the same document for every name.
    if (endpoint !== null && caller !== null)
      checkEndpoint({ routes, schema: project.schema }, { endpoint, caller });
    const key = keyOf([visited]);
    const kept = key && `${endpoint ?? ""} of project ${key}`;
    return show(describedOf(visited, deps), kept, visited.language !== null);
  };
}

/** The document of all projects, and of the paths beside them. */
export function showWholeDocument(deps: DocumentDeps): Handle {
  const visit = createVisit(deps);
  const find = createDocumentFinder();
  return async (incoming, exchange) => {
    const visits: Visit[] = [];
    for (const project of deps.projects.values())
      visits.push(await visit(incoming, exchange, project));
    // The headers of a limit would reveal a project that the caller must not know.
    exchange.answerHeaders = {};
    return showDocument(incoming, exchange, {
      key: keyOf(visits),
      isInLanguages: visits.some(({ language }) => language !== null),
      deps,
      find,
      build: ({ describeProjects }) =>
        describeProjects(
          visits.map((one) => describedOf(one, deps)),
          { serverUrl: deps.basePath || "/" },
        ),
    });
  };
}

/** A caller and a project. */
interface Visit {
  readonly project: Project;
  /** The routes at the time of the request. */
  readonly routes: Routes | null;
  /** Of labels; null: there is only one. */
  readonly language: string | null;
  /** Null: the caller is unknown to the project, which `refusal` says. */
  readonly caller: Caller | null;
  readonly refusal?: AppError;
}

/** Counts the request for the project's limits. Rejects as an action does, except for missing or wrong credentials. */
function createVisit(deps: DocumentDeps) {
  const admit = createAdmission(deps);
  return async (incoming: Incoming, exchange: Exchange, project: Project): Promise<Visit> => {
    const { routes } = project;
    const messages = routes && messagesIn(routes);
    const asked = incoming.headers.get("accept-language");
    const language = messages?.size ? languageFor(asked, messages) : null;
    try {
      const arrived = { incoming, exchange, project, action: "openapi.json" };
      const caller = await admit(arrived);
      return { project, routes, caller, language };
    } catch (error) {
      if (!(error instanceof AppError && error.kind === "unauthorized")) throw error;
      return { project, routes, caller: null, language, refusal: error };
    }
  };
}

const noTraits: ProjectTraits = { credentials: null, rateLimit: null };

const describedOf = (
  { project: { name }, routes, caller, language }: Visit,
  { traits }: DocumentDeps,
): DescribedProject => ({
  name,
  routes,
  traits: traits.get(name) ?? noTraits,
  viewOf:
    caller &&
    ((bound) => {
      const view = bound.viewFor(caller);
      return view && language !== null ? labelledIn(language, view) : view;
    }),
});

/** Equal for equal documents; null if there are no paths: such a document is built quickly. */
function keyOf(visits: readonly Visit[]): string | null {
  const parts = visits.map(({ project: { name }, routes, caller, language }) =>
    routes && caller
      ? [name, numberOfRoutes(routes), routes.rightsKeyOf(caller), language]
      : [name],
  );
  return parts.every((part) => part.length === 1) ? null : JSON.stringify(parts);
}

/** Loaded when a document is first asked for. */
type Describer = typeof import("../../core/openapi/describe.ts");

/** `?version=3.0` of the request. Rejects with Invalid parameter for a version that there is not. */
function versionOf({ url }: Incoming): string {
  const version = new URL(url).searchParams.get("version") ?? "3.1";
  if (["3.1", "3.0"].includes(version)) return version;
  throw invalidParameter("version must be 3.1 or 3.0");
}

interface Shown {
  /** Null: the document is not kept. */
  readonly key: string | null;
  /** Its labels are in the language of the client. */
  readonly isInLanguages: boolean;
  readonly deps: Pick<DocumentDeps, "compression" | "digest">;
  readonly find: FindDocument;
  build(describer: Describer): Promise<OpenApiDocument>;
}

async function showDocument(
  incoming: Incoming,
  exchange: Exchange,
  { key, isInLanguages, deps: { compression, digest }, find, build }: Shown,
): Promise<Reply> {
  const version = versionOf(incoming);
  const make = async (): Promise<KeptDocument> => {
    const describer = await import("../../core/openapi/describe.ts");
    const { inVersion } = await import("../../core/openapi/openapi-30.ts");
    const document = await inVersion(await build(describer), version);
    const { text, hash } = await describer.printDocument(document, digest);
    // Compressed it takes a tenth of the memory.
    return { content: compression ? await compression.gzip(text) : text, hash };
  };
  const { content, hash } = await (key === null ? make() : find(`${version} ${key}`, make));
  const isPacked = typeof content !== "string";
  const staysPacked = isPacked && takesGzip(incoming.headers);
  const etags = [hash, `${hash}-gzip`].map((tag) => `"${tag}"`);
  const headers = {
    // Compressed and plain documents differ in bytes, so their tags differ.
    ETag: etags[staysPacked ? 1 : 0]!,
    // Clients can keep it, but must ask each time whether it changed.
    "Cache-Control": "private, no-cache",
    Vary: `X-Api-Key, Authorization, Accept-Encoding${isInLanguages ? ", Accept-Language" : ""}`,
  };
  const beside = { ...headersOf(exchange), ...headers };
  const known = incoming.headers.get("if-none-match")?.split(",") ?? [];
  if (known.some((tag) => etags.includes(tag.trim().replace(/^W\//, ""))))
    return { status: 304, headers: beside, body: null };
  const type = { "Content-Type": "application/json; charset=utf-8" };
  if (staysPacked)
    return { status: 200, headers: { ...beside, ...type, ...gzipHeaders }, body: content };
  const body = isPacked ? await compression!.gunzip(content) : content;
  return { status: 200, headers: { ...beside, ...type }, body };
}
