/** The API's one route: find the action, read the body, run it, wrap the answer. */
import type { Method } from "../../core/calls/action.ts";
import {
  findRoute,
  perform,
  placeIn,
  type Project,
  type Projects,
  type Routes,
} from "../../core/dispatch.ts";
import type { AnsweredStream } from "../../core/calls/answer.ts";
import type { StepEnd, StepName } from "../../core/calls/handler.ts";
import { asksForDryRun } from "../../core/calls/payload.ts";
import { refusalFor } from "../../core/bind-views.ts";
import { batchName } from "../../core/batch/batch-action.ts";
import { changesName } from "../../core/live/changes-action.ts";
import { refuseIfMatch } from "../../core/records/etag.ts";
import { redeemTicket } from "../../core/live/tickets.ts";
import type { Runtime } from "../../core/plans/runtime.ts";
import { closest } from "../../core/values/closest.ts";
import { createDeadlines } from "../../core/values/deadlines.ts";
import { AppError, type ErrorKind, notFound, unauthorized } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";
import { type Caller, shareOf } from "../../core/plans/caller.ts";
import { depthFrom, type HookDepths } from "../../core/workflow/hook-depth.ts";
import { unknownName, usableEndpoints } from "../../core/route-hints.ts";
import { type AdmissionDeps, countingSteps, createAdmission, hasCredentials } from "./admission.ts";
import { addressOf, isOwnCall } from "./client-address.ts";
import { type BodyOptions, readBody } from "./body.ts";
import { prefersCsv } from "./compression.ts";
import { download } from "./download.ts";
import { answer, csvReply, failureReply, headersOf } from "./envelope.ts";
import type { Reply } from "./reply.ts";
import type { Exchange, Handle, OnAnswered } from "./exchange.ts";
import { parseForm } from "./form.ts";
import { checkOrigin } from "./guard.ts";
import type { HeaderFields, Incoming } from "./incoming.ts";
import type { RateLimiter } from "./rate-limit.ts";
import { readUpload } from "./read-upload.ts";

export interface RouteDeps extends AdmissionDeps, Pick<Runtime, "now" | "basePath" | "csvOf"> {
  readonly projects: Projects;
  readonly bodyLimitBytes: number;
  /** How long a client can take to send a body. */
  readonly bodyTimeoutMs: number;
  /** The origins whose pages may call each project; a project without an entry allows none. */
  readonly corsOrigins: ReadonlyMap<string, readonly string[]>;
  readonly hookDepths: Pick<HookDepths, "signedIn">;
  /** Is called with the outcome of each step of a batch; absent: it is not reported. */
  readonly onStep?: OnAnswered | undefined;
  /** The limits of a project that does not exist; null: no project has limits. */
  readonly limiterOfNone: ((name: string) => RateLimiter) | null;
}

/** `/api/{project}/{endpoint}/{action}`; actions such as `lock/acquire` have one more segment. */
const actionPath = /^\/api\/([^/]+)\/([^/]+)\/((?:[^/]+\/)?[^/]+)$/;

/** `/api/{project}/_batch` and `/api/{project}/changes`. */
const projectPath = new RegExp(`^/api/([^/]+)/(${batchName}|${changesName})$`);

/** The names in the path of an action, whether they exist or not. */
export interface ActionPath {
  readonly project: string;
  /** Empty for `_batch` and `changes`. */
  readonly endpoint: string;
  readonly action: string;
}

/** Parsed paths, because most requests use few different ones. */
const paths = new Map<string, ActionPath | null>();

export function readActionPath(path: string): ActionPath | null {
  const known = paths.get(path);
  if (known !== undefined) return known;
  const read = namesIn(path);
  if (paths.size >= limits.pathsKept) paths.clear();
  if (path.length <= limits.keptPathLengthMax) paths.set(path, read);
  return read;
}

function namesIn(path: string): ActionPath | null {
  const [, whole, wide] = projectPath.exec(path) ?? [];
  if (whole && wide) return { project: whole, endpoint: "", action: wide };
  const [, project, endpoint, action] = actionPath.exec(path) ?? [];
  const isAction = action !== undefined && action !== "openapi.json";
  return project && endpoint && isAction ? { project, endpoint, action } : null;
}

const nowhere: ActionPath = { project: "", endpoint: "", action: "" };

/** The handler of the paths of actions, for every method. */
export function callAction(deps: RouteDeps): Handle {
  const { projects, now, bodyLimitBytes: bytesMax, bodyTimeoutMs: timeoutMs } = deps;
  const { corsOrigins, trustProxy, onStep } = deps;
  const admit = createAdmission(deps);
  const counting = countingSteps(deps);
  const waiting = { timeoutMs, deadlines: createDeadlines() };
  return async (incoming, exchange) => {
    const { headers, path } = incoming;
    const { project, endpoint, action } = readActionPath(path) ?? nowhere;
    // HEAD is GET without the body (RFC 9110). A stream is nothing but its body.
    const isHead = incoming.method === "HEAD" && action !== changesName;
    const method = isHead ? "GET" : incoming.method;
    const found = projects.get(project);
    if (!found) throw await unknownProject(deps, { incoming, exchange, name: project });
    exchange.place = placeIn(found, { endpoint, action });
    const ticket = ticketOf(incoming, { endpoint, action });
    const asked = ticket === null ? found : withTicket(found, ticket);
    const admitted = admit({ incoming, exchange, project: asked, endpoint, action });
    const caller = admitted instanceof Promise ? await admitted : admitted;
    // No name in a path needs percent signs.
    if (path.includes("%")) throw nothingHere(deps.basePath);
    const route = findRoute(found, { endpoint, action, method, caller });
    // Permission is checked before the body is read.
    const handler = route.handlerFor(caller);
    const { answersCsv } = route.action;
    // Spelled as in `cors.ts`.
    if (answersCsv) exchange.answerHeaders = { ...exchange.answerHeaders, vary: "Accept" };
    let body: unknown;
    let dryRun = false;
    try {
      if (method === "POST") checkOrigin(incoming, corsOrigins.get(project) ?? []);
      const requestMode = headers.get("x-request-mode");
      route.action.checkHeaders({ method: method as Method, requestMode });
      const ifMatch = headers.get("if-match");
      refuseIfMatch(ifMatch, route.action);
      const { takesForm, takesUpload, uploadFields: fields } = route.action;
      const refusesUnknown = route.entity?.settings.unknownMembers === "refuse";
      const upload = takesUpload
        ? await readUpload(incoming.request, { ...waiting, fields, refusesUnknown })
        : null;
      if (!upload) body = await payloadOf(incoming, { method, ...waiting, bytesMax, takesForm });
      const isPreferred = route.action.headers.has("Prefer") && prefersRollback(headers);
      dryRun = isPreferred || asksForDryRun(route.action, body);
      if (isPreferred)
        exchange.answerHeaders = { ...exchange.answerHeaders, "Preference-Applied": rollback };
      const request = {
        caller,
        share: () => shareOf(caller, addressOf(incoming, trustProxy)),
        method: method as Method,
        body,
        upload,
        ifMatch,
        lockToken: headers.get("x-lock-token"),
        idempotencyKey: headers.get("idempotency-key"),
        language: headers.get("accept-language"),
        lastEventId: headers.get("last-event-id"),
        wantsCsv: answersCsv && prefersCsv(headers),
        dryRun,
        onStep: onStep && ((step: StepName, end: StepEnd) => onStep({ project, ...step }, end)),
        countSteps: counting({ incoming, exchange, project: found }, caller),
        requestId: exchange.requestId,
        hookDepth: await depthOf(deps, incoming),
        log: exchange.log,
      };
      const result = await perform({ handler, project: found }, request);
      if (result.stream) return streamReply(exchange, result.stream);
      if (result.file) return await download(exchange, result.file, { isHead, headers });
      const { table } = result;
      if (table) return csvReply(exchange, deps.csvOf(table), table.nextCursor);
      const shown = dryRun ? { ...result, body: { ...result.body, dry_run: true } } : result;
      return answer(exchange, shown, now());
    } catch (failure) {
      // A batch is held against rights step by step, but who has none learns nothing of what is wrong with its body.
      const isHidden = isAboutBody(failure) && !route.mayUse(caller);
      const error = isHidden ? refusalFor(caller) : failure;
      return failureReply(exchange, error, now(), {
        beside: { ...route.action.besideErrors(body), ...(dryRun && { dry_run: true }) },
        isInline: route.showsErrorsInline,
      });
    }
  };
}

const bodyErrors: readonly ErrorKind[] = [
  "invalidPayload",
  "payloadTooLarge",
  "unsupportedMediaType",
];

const isAboutBody = (error: unknown): boolean =>
  error instanceof AppError && bodyErrors.includes(error.kind);

/** The ticket of a stream: browsers' EventSource sends no credentials. */
function ticketOf(
  { method, url }: Incoming,
  { endpoint, action }: Pick<ActionPath, "endpoint" | "action">,
): string | null {
  if (method !== "GET" || endpoint !== "" || action !== changesName) return null;
  return new URL(url).searchParams.get("ticket");
}

function withTicket(
  { name, db, runtime, callers }: Project,
  ticket: string,
): Pick<Project, "name" | "callers"> {
  const deadlineAtMs = performance.now() + limits.requestDeadlineMs;
  const authenticate = () => redeemTicket(ticket, { db, deadlineAtMs, callers, ...runtime });
  return { name, callers: { authenticate } };
}

function streamReply(exchange: Exchange, { mediaType, open }: AnsweredStream): Reply {
  // nginx would collect the events otherwise.
  const headers = { "Content-Type": mediaType, "X-Accel-Buffering": "no", ...headersOf(exchange) };
  return { status: 200, headers, body: open() };
}

const rollback = "tx=rollback";

/** Whether the first preference `tx` of the header is `rollback`. Others are ignored (RFC 7240). */
function prefersRollback(headers: HeaderFields): boolean {
  const sent = headers.get("prefer");
  if (sent === null) return false;
  const preferences = sent.split(",").map((one) => one.split(";")[0]!.replace(/[\s"]/g, ""));
  return preferences.find((one) => /^tx(=|$)/i.test(one))?.toLowerCase() === rollback;
}

/** The handler of all other paths, or methods; requests below a project count for its limits. */
export function callNothing(deps: RouteDeps, refusal = () => nothingHere(deps.basePath)): Handle {
  const admit = createAdmission(deps);
  return async (incoming, exchange) => {
    const [, name = ""] = /^\/api\/([^/]*)\//.exec(incoming.path) ?? [];
    const project = deps.projects.get(name);
    if (!project && name !== "" && hidesNames(deps))
      await refuseAsKnown(deps, { incoming, exchange, name }).catch((error: unknown) => {
        if (error instanceof AppError && error.kind === "tooManyRequests") throw error;
      });
    if (project) {
      exchange.place = { project: project.name, endpoint: null, action: null };
      try {
        await admit({ incoming, exchange, project });
      } catch (error) {
        if (error instanceof AppError && error.kind === "tooManyRequests") throw error;
      }
    }
    throw refusal();
  };
}

const nothingHere = (basePath: string): AppError =>
  notFound(
    `No resource exists at this path; the actions are at ${basePath}/api/{project}/{endpoint}/{action}, and GET ${basePath || "/"} lists them`,
  );

/** A request about a project that does not exist. */
interface Astray {
  readonly incoming: Incoming;
  readonly exchange: Exchange;
  readonly name: string;
}

/**
 * The error for a project that does not exist. It suggests a similar name if the caller can use something in that
 * project. If all projects ask for credentials, a client that no project knows gets the refusal of an existing project,
 * so that no name can be guessed. The request counts for the limits of each project at which its credentials are tried.
 */
export async function unknownProject(deps: RouteDeps, astray: Astray): Promise<AppError> {
  const { incoming, exchange, name } = astray;
  const admit = createAdmission(deps);
  const entering = (project: Project) => async () => admit({ incoming, exchange, project });
  const near = deps.projects.get(closest(name, deps.projects.keys()) ?? "");
  const mayKnow = near?.routes ? await knows(entering(near), near.routes.endpoints) : false;
  const isKnown = mayKnow || !hidesNames(deps) || (await isKnownAnywhere(deps, astray, entering));
  // The headers of the limit would reveal that the project exists.
  exchange.answerHeaders = {};
  if (!isKnown) await refuseAsKnown(deps, astray);
  return unknownName("project", name, mayKnow && near ? [near.name] : []);
}

/** Whether every project asks for credentials: then only callers that a project knows learn names. */
export const hidesNames = ({ projects }: Pick<RouteDeps, "projects">): boolean =>
  projects.size > 0 && [...projects.values()].every(asksForCredentials);

function asksForCredentials({ callers }: Project): boolean {
  try {
    const caller = callers.authenticate({ get: () => null });
    if (caller instanceof Promise) caller.catch(() => undefined);
    return false;
  } catch {
    return true;
  }
}

async function isKnownAnywhere(
  { projects }: RouteDeps,
  { incoming }: Astray,
  entering: (project: Project) => () => Promise<Caller>,
): Promise<boolean> {
  if (!hasCredentials(incoming)) return false;
  for (const project of projects.values()) {
    const isLetIn = await entering(project)().then(
      () => true,
      () => false,
    );
    if (isLetIn) return true;
  }
  return false;
}

/** Rejects as for a project that exists and does not know the caller. */
export async function refuseAsKnown(
  { limiterOfNone, trustProxy }: RouteDeps,
  { incoming, exchange, name }: Astray,
): Promise<never> {
  const named = readActionPath(incoming.path);
  const rateLimiters = new Map(limiterOfNone ? [[name, limiterOfNone(name)]] : []);
  const project = { name, callers: { authenticate: refuseAll } };
  const admit = createAdmission({ rateLimiters, trustProxy });
  await admit({ incoming, exchange, ...named, project });
  return refuseAll();
}

function refuseAll(): never {
  throw unauthorized("Credentials are missing or invalid");
}

const knows = (entering: () => Promise<Caller>, endpoints: Routes["endpoints"]): Promise<boolean> =>
  entering().then(
    (caller) => usableEndpoints(endpoints, { caller }).length > 0,
    () => false,
  );

/** How many nested hook calls of this service led to the request; 0 for other clients, whatever their headers. */
export function depthOf({ hookDepths }: RouteDeps, incoming: Incoming): number | Promise<number> {
  const depth = depthFrom(incoming.headers.get("x-hook-depth"));
  return depth === 0 || isOwnCall(incoming) ? depth : hookDepths.signedIn(incoming.headers);
}

/** The body, or the query of a GET. */
async function payloadOf(
  incoming: Incoming,
  { method, ...options }: BodyOptions & { readonly method: string },
): Promise<unknown> {
  return method === "GET"
    ? parseForm(new URL(incoming.url).search.slice(1))
    : readBody(incoming, options);
}
