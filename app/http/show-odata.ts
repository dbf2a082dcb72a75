/**
 * `/odata/{project}/…`: the records of a project for tools that speak OData 4. The path and the query become the body
 * of a reading action of `core/odata`; errors have the form of OData. Here alone an API key may be the password of Basic
 * authentication, because such tools ask people for a name and a password.
 */
import { actionFor, seenSets } from "../../core/odata/bound-sets.ts";
import { metadataOf } from "../../core/odata/metadata.ts";
import { sentTwice } from "../../core/odata/query-options.ts";
import { odataName } from "../../core/odata/set-names.ts";
import { readResourcePath } from "../../core/odata/resource-path.ts";
import type { ODataBody } from "../../core/odata/odata-answers.ts";
import { answerText } from "../../core/calls/answer-text.ts";
import { nothingBeside } from "../../core/calls/handler.ts";
import { checkEndpoint, perform, type Project, type Routes } from "../../core/dispatch.ts";
import { type Caller, shareOf } from "../../core/plans/caller.ts";
import {
  AppError,
  invalidParameter,
  notFound,
  unauthorized,
  unavailable,
} from "../../core/values/errors.ts";
import { fromBase64 } from "../../core/values/formats.ts";
import type { WrittenJson } from "../../core/values/ready-json.ts";
import { limits } from "../../core/values/limits.ts";
import { createAdmission } from "./admission.ts";
import { addressOf } from "./client-address.ts";
import { failureReply, headersOf } from "./envelope.ts";
import type { Exchange, Handle } from "./exchange.ts";
import { type FormValue, parseForm } from "./form.ts";
import type { Incoming } from "./incoming.ts";
import { createDocumentFinder, numberOfRoutes } from "./kept-documents.ts";
import { extended, type Reply } from "./reply.ts";
import { type RouteDeps, unknownProject } from "./routes.ts";
import { originOf } from "./show-front-page.ts";
import type { Runtime } from "../../core/plans/runtime.ts";

const odataPath = /^\/odata\/([^/]+)(?:\/(.*))?$/s;

/** The project of a path of OData; null for all other paths. */
export const odataProjectIn = (path: string): string | null => odataPath.exec(path)?.[1] ?? null;

const versionHeader = { "OData-Version": "4.0" };
const challenge = 'Basic realm="rowgate", charset="UTF-8"';

export function showOData(deps: RouteDeps & Pick<Runtime, "digest">): Handle {
  const { projects, now } = deps;
  const admit = createAdmission(deps);
  const find = createDocumentFinder();

  async function answer(incoming: Incoming, exchange: Exchange): Promise<Reply> {
    const [, name = "", resource = ""] = odataPath.exec(incoming.path)!;
    const project = projects.get(name);
    if (!project) throw await unknownProject(deps, { incoming, exchange, name });
    exchange.place = { project: name, endpoint: null, action: null };
    const { routes } = project;
    const path = decoded(resource);
    const isService = path === "" || path === "$metadata";
    const target = isService || !routes?.odata ? null : targetIn(path, routes);
    if (target?.endpoint) exchange.place = { project: name, ...target };
    const named = target ?? { endpoint: "", action: "odata" };
    const caller = await admit({ incoming, exchange, project, ...named });
    if (routes === null)
      throw unavailable("The database of this project is not reachable yet; try again later");
    if (routes.odata === null)
      throw notFound(
        'OData is switched off; the operator switches it on with {"odata": true} in project.json',
      );
    mustRead(incoming, path);
    // Tools ask for credentials only when they are refused.
    if (isService && caller.kind === "anonymous" && seenSets(routes.odata, caller).length === 0)
      throw unauthorized("This service requires credentials");
    const root = `${originOf(incoming, deps)}${deps.basePath}/odata/${name}/`;
    const visit = { incoming, exchange, project, routes, caller, root, sent: optionsOf(incoming) };
    if (path === "") return serviceDocument(visit);
    if (path === "$metadata") return metadata(visit);
    return records(visit, path);
  }

  async function metadata({ exchange, project, routes, caller, sent }: Visit): Promise<Reply> {
    mustBeOffered(sent, /^(?:xml|application\/xml)\s*(?:;|$)/i);
    const key = `$metadata of ${JSON.stringify([project.name, numberOfRoutes(routes), routes.rightsKeyOf(caller)])}`;
    const { content } = await find(key, async () => {
      const text = metadataOf(seenSets(routes.odata!, caller), routes.odata!.names);
      return { content: text, hash: deps.digest(text) };
    });
    const headers = { "Content-Type": "application/xml; charset=utf-8", ...headersOf(exchange) };
    return { status: 200, headers, body: content };
  }

  async function records(visit: Visit, path: string): Promise<Reply> {
    const { incoming, exchange, project, routes, caller, root, sent } = visit;
    const { set, ...asked } = readResourcePath(path);
    const isList = asked.key === null;
    mustNotBeLeftOut(visit, set);
    const bound = actionFor(routes.odata!, { set, isList, caller });
    const { params, ...options } = sent;
    const form = formOf(incoming, options);
    const pageSize = pageSizeOf(incoming);
    const body: ODataBody = {
      options,
      ...(params !== undefined && { params }),
      ...asked,
      ...form,
      pageSize,
      root,
      address: `${root}${encodedPath(incoming)}`,
    };
    const request = {
      ...nothingBeside,
      caller,
      share: () => shareOf(caller, addressOf(incoming, deps.trustProxy)),
      method: "GET",
      body,
      language: incoming.headers.get("accept-language"),
      requestId: exchange.requestId,
      hookDepth: 0,
      log: exchange.log,
    } as const;
    const answered = await perform({ handler: bound.handlerFor(caller), project }, request);
    if (pageSize !== null && (isList || asked.relation !== null))
      exchange.answerHeaders = {
        ...exchange.answerHeaders,
        "Preference-Applied": `odata.maxpagesize=${pageSize}`,
      };
    if (asked.isCount) return plainReply(exchange, String(answered.body["count"]));
    const isEmpty = answered.rest === undefined;
    if (isEmpty) return { status: 204, headers: headersOf(exchange), body: null };
    const etag = answered.etag === undefined ? {} : { ETag: answered.etag };
    return jsonReply(exchange, answerText(answered, ""), form, etag);
  }

  return async (sent, exchange) => {
    const incoming = withKey(sent);
    try {
      return extended(await answer(incoming, exchange), versionHeader);
    } catch (error) {
      const reply = failureReply(exchange, error, now(), { shape: odataError });
      const headers = { ...reply.headers, "Content-Type": jsonType(false), ...versionHeader };
      return {
        ...reply,
        headers: reply.status === 401 ? { ...headers, "WWW-Authenticate": challenge } : headers,
      };
    }
  };
}

interface Visit {
  readonly incoming: Incoming;
  readonly exchange: Exchange;
  readonly project: Project;
  readonly routes: Routes;
  readonly caller: Caller;
  readonly root: string;
  /** The query options. */
  readonly sent: Readonly<Record<string, FormValue>>;
}

/** `error` of the service is the code, its fields are the details. */
const odataError = ({ error, message, ...rest }: { error: string; message: string }): object => {
  const { errors } = rest as { errors?: Record<string, string[]> };
  const details = Object.entries(errors ?? {}).flatMap(([target, texts]) =>
    texts.map((text) => ({ code: error, target, message: text })),
  );
  return { error: { code: error, message, ...(details.length > 0 && { details }) } };
};

function decoded(path: string): string {
  try {
    const text = decodeURIComponent(path);
    if (!text.includes("\0")) return text;
  } catch {
    // Not valid percent-encoded UTF-8.
  }
  throw invalidParameter("The path is not valid percent-encoded UTF-8");
}

/** As it was sent, below the service document. */
const encodedPath = ({ path }: Incoming): string => odataPath.exec(path)![2] ?? "";

/** What the rate limits and the metrics call the request; null for paths that name no set. */
function targetIn(path: string, { odata }: Routes): { endpoint: string; action: string } | null {
  const [, set = ""] = /^([^/(]*)/.exec(path) ?? [];
  const found = odata!.sets.get(set);
  if (!found) return null;
  const isRecord = path.startsWith("(", set.length) && found.first !== null;
  return { endpoint: found.names.endpoint, action: isRecord || !found.list ? "first" : "read" };
}

/** A set of an endpoint with a fault may be back soon. */
function mustNotBeLeftOut({ routes, project, caller }: Visit, set: string): void {
  for (const endpoint of routes.leftOut)
    if (odataName(endpoint) === set && !routes.odata!.sets.has(set))
      checkEndpoint(project, { endpoint, caller });
}

function mustRead({ method }: Incoming, path: string): void {
  if (path === "$batch") throw new AppError("notImplemented", "$batch is not supported");
  if (method !== "GET" && method !== "HEAD")
    throw new AppError("methodNotAllowed", "Records can only be read here; use GET", {
      allow: ["GET"],
    });
}

function serviceDocument({ exchange, incoming, routes, caller, root, sent }: Visit): Reply {
  const value = seenSets(routes.odata!, caller).map(({ names: { set } }) => ({
    name: set,
    kind: "EntitySet",
    url: set,
  }));
  const text = JSON.stringify({ "@odata.context": `${root}$metadata`, value });
  return jsonReply(exchange, text, formOf(incoming, sent));
}

const jsonType = (longNumbersAsText: boolean): string =>
  `application/json;odata.metadata=minimal${longNumbersAsText ? ";IEEE754Compatible=true" : ""};charset=utf-8`;

const jsonReply = (
  exchange: Exchange,
  text: WrittenJson,
  { longNumbersAsText }: Pick<ODataBody, "longNumbersAsText">,
  headers: Readonly<Record<string, string>> = {},
): Reply => ({
  status: 200,
  headers: { "Content-Type": jsonType(longNumbersAsText), ...headersOf(exchange), ...headers },
  body: text,
});

const plainReply = (exchange: Exchange, text: string): Reply => ({
  status: 200,
  headers: { "Content-Type": "text/plain; charset=utf-8", ...headersOf(exchange) },
  body: text,
});

/** The form of the answer that the client asks for by `$format`, else by Accept. Only JSON is offered. */
function formOf({ headers }: Incoming, sent: Visit["sent"]): Pick<ODataBody, "longNumbersAsText"> {
  const format = mustBeOffered(sent, /^(?:json|application\/json)\s*(?:;|$)/i);
  const asked = format === undefined || format === "json" ? headers.get("accept") : format;
  return { longNumbersAsText: /IEEE754Compatible\s*=\s*"?true/i.test(asked ?? "") };
}

/** The `$format` that the client asks for; undefined: none. */
function mustBeOffered({ $format: sent }: Visit["sent"], offered: RegExp): string | undefined {
  if (sent === undefined) return undefined;
  const format = String(sent);
  if (offered.test(format)) return format;
  throw new AppError("notImplemented", `The $format ${format.slice(0, 100)} is not supported`);
}

/** A form takes the last of two equal names, but OData's options may stand there once. */
function optionsOf({ url }: Incoming): Visit["sent"] {
  const { search, searchParams } = new URL(url);
  const options = parseForm(search.slice(1));
  const twice = Object.keys(options).find(
    (name) => name.startsWith("$") && searchParams.getAll(name).length > 1,
  );
  if (twice !== undefined) throw sentTwice(twice.slice(0, 100), "the query");
  return options;
}

/** Null: the client has no preference. */
function pageSizeOf({ headers }: Incoming): number | null {
  const [, size] =
    /(?:^|[,;\s])(?:odata\.)?maxpagesize\s*=\s*"?(\d{1,9})/i.exec(headers.get("prefer") ?? "") ??
    [];
  return size === undefined ? null : Math.min(Math.max(Number(size), 1), limits.limitMax);
}

/** The request with the password of Basic authentication as its API key. */
function withKey(incoming: Incoming): Incoming {
  const sent = /^Basic +(\S+) *$/i.exec(incoming.headers.get("authorization") ?? "")?.[1];
  if (sent === undefined || incoming.headers.get("x-api-key") !== null) return incoming;
  const bytes = fromBase64(sent);
  const text = bytes === null ? "" : new TextDecoder().decode(bytes);
  const key = text.slice(text.indexOf(":") + 1);
  const { headers, method, path, url, client } = incoming;
  return {
    method,
    path,
    url,
    client,
    headers: {
      get: (name) =>
        name === "x-api-key" ? key : name === "authorization" ? null : headers.get(name),
    },
    bytes: (bytesMax) => incoming.bytes(bytesMax),
    get request() {
      return incoming.request;
    },
  };
}
