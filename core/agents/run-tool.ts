/**
 * Runs a tool: its arguments become a request to an action, which goes through the dispatch as any other, and the
 * answer becomes what the agent reads, within the limits of `agent-limits.ts`.
 */
import type { Answer } from "../calls/answer.ts";
import { answerText } from "../calls/answer-text.ts";
import { asksForDryRun } from "../calls/payload.ts";
import { type BoundAction, findRoute, type Project } from "../dispatch.ts";
import { takesCursor } from "../actions/read.ts";
import type { Caller } from "../plans/caller.ts";
import { agentLimits } from "../values/agent-limits.ts";
import { closest } from "../values/closest.ts";
import { AppError, invalidParameter, invalidPayload, notFound } from "../values/errors.ts";
import { isObject, parseOwnJson } from "../values/json.ts";
import { asString } from "../values/ready-json.ts";
import { type Agents, endpointsOf, type ReadingTool, rightsOf } from "./agent-rights.ts";
import { isArgument, isNumberOfRecords } from "./agent-tools.ts";
import { cut, fitsAnswer, fittingCount, shortWrite, recordTooLarge } from "./fitting.ts";

/** What an agent reads: JSON. */
export type ToolContent = Record<string, unknown>;

/** A request of a tool to an action. */
export interface ToolRequest {
  readonly endpoint: string;
  readonly bound: BoundAction;
  readonly body: Record<string, unknown>;
  readonly dryRun: boolean;
  readonly idempotencyKey: string | null;
  readonly ifMatch: string | null;
}

export interface ToolCall {
  readonly agents: Agents;
  readonly project: Pick<Project, "schema">;
  readonly caller: Caller;
  /** Runs the request. Rejects with its error. */
  send(request: ToolRequest): Promise<Answer>;
}

export type Arguments = Readonly<Record<string, unknown>>;

/** Rejects with an AppError that says what to change in the arguments, or as the action does. */
export async function runReadingTool(
  tool: ReadingTool,
  { endpoint, ...sent }: Arguments,
  call: ToolCall,
): Promise<ToolContent> {
  const name = endpointIn(endpoint, tool, call);
  const bound = routeTo({ endpoint: name, action: tool }, call);
  for (const [member, value] of Object.entries(sent)) {
    if (!isArgument(tool, member))
      throw invalidPayload(`Unknown argument "${member}"; send per_page, and cursor to go on`);
    if (isNumberOfRecords(member)) checkNumber(member, value);
  }
  const send = async (body: Record<string, unknown>): Promise<Answer> =>
    call.send({ ...plain, endpoint: name, bound, body });
  switch (tool) {
    case "read":
      return readList(sent, { send, hasCursor: hasCursor(bound, call.caller) });
    case "first":
      return readOne(await send(sent));
    case "lookup":
      return lookUp(sent, send);
    case "aggregate":
      return readFigures(sent, send);
  }
}

const plain = { dryRun: false, idempotencyKey: null, ifMatch: null };

/** The arguments of `write` besides `endpoint`, `action` and `body`. */
const writeOptions = ["dry_run", "idempotency_key", "if_match"] as const;

/** Rejects as `runReadingTool` does. */
export async function runWrite(
  { endpoint, action, body, ...more }: Arguments,
  call: ToolCall,
): Promise<ToolContent> {
  const name = endpointIn(endpoint, "write", call);
  const own = [...(rightsOf(call.agents, call.caller).endpoints.get(name)?.writes.keys() ?? [])];
  if (typeof action !== "string")
    throw invalidPayload(`action is required: ${own.join(", ") || "you may use none here"}`);
  if (!own.includes(action))
    throw notFound(
      own.length === 0
        ? `You may write nothing at ${JSON.stringify(name)}`
        : `You may not write ${name}/${action.slice(0, 100)}; at this endpoint you may use ${own.join(", ")}`,
    );
  if (!isObject(body)) throw invalidPayload("body is required: an object, as describe shows it");
  const sent = optionsIn(more);
  const bound = routeTo({ endpoint: name, action }, call);
  const options = { ...sent, dryRun: sent.dryRun || asksForDryRun(bound.action, body) };
  for (const [header, value] of [
    ["If-Match", options.ifMatch],
    ["Idempotency-Key", options.idempotencyKey],
  ] as const)
    if (value !== null && !bound.action.headers.has(header))
      throw invalidPayload(
        `${action} does not take ${header === "If-Match" ? "if_match" : "idempotency_key"}`,
      );
  const answer = await call.send({ endpoint: name, bound, body, ...options });
  const content = { ...(options.dryRun && { dry_run: true }), ...cut(contentOf(answer)) };
  return fitsAnswer(content) ? content : shortWrite(content);
}

function optionsIn(more: Arguments): Pick<ToolRequest, "dryRun" | "idempotencyKey" | "ifMatch"> {
  for (const name of Object.keys(more)) {
    if ((writeOptions as readonly string[]).includes(name)) continue;
    const near = closest(name, writeOptions);
    throw invalidPayload(
      `Unknown argument ${JSON.stringify(name.slice(0, 100))}${near === null ? "; fields belong into body" : `; did you mean ${JSON.stringify(near)}?`}`,
    );
  }
  const { dry_run: dryRun = false, idempotency_key: key = null, if_match: etag = null } = more;
  if (typeof dryRun !== "boolean") throw invalidPayload("dry_run must be true or false");
  if (key !== null && typeof key !== "string")
    throw invalidPayload("idempotency_key must be a text");
  if (etag !== null && typeof etag !== "string") throw invalidPayload("if_match must be a text");
  return { dryRun, idempotencyKey: key, ifMatch: etag };
}

/** Throws `invalidPayload` or `notFound`, with the endpoints that the tool takes. */
function endpointIn(
  sent: unknown,
  tool: ReadingTool | "write",
  { agents, caller }: ToolCall,
): string {
  const own = endpointsOf(rightsOf(agents, caller), tool);
  const listed = own.slice(0, agentLimits.namesListedMax).join(", ");
  if (typeof sent !== "string") throw invalidPayload(`endpoint is required: ${listed}`);
  // What is left out for a fault in its configuration is there again later.
  if (own.includes(sent) || agents.routes.leftOut.has(sent)) return sent;
  throw notFound(`Unknown endpoint ${JSON.stringify(sent.slice(0, 100))}; ${tool} takes ${listed}`);
}

/** Rejects as a request to this action does, if agents may use it. */
function routeTo(
  { endpoint, action }: { readonly endpoint: string; readonly action: string },
  { agents, project, caller }: ToolCall,
): BoundAction {
  const among = { routes: agents.routes, schema: project.schema };
  return findRoute(among, { endpoint, action, method: "POST", caller });
}

function checkNumber(name: string, value: unknown): void {
  const max = agentLimits.recordsMax;
  const isFine = value === null || (Number.isInteger(value) && (value as number) >= 1);
  if (!isFine || (value as number) > max)
    throw invalidParameter(`${name} must be a whole number from 1 to ${max}`);
}

const hasCursor = (bound: BoundAction, caller: Caller): boolean => {
  const plan = bound.viewFor(caller)?.read ?? null;
  return plan !== null && takesCursor(plan);
};

/** The members of an answer, as JSON with every digit. */
function contentOf(answer: Answer): ToolContent {
  const {
    success: _,
    timestamp: __,
    ...content
  } = parseOwnJson(asString(answerText(answer, ""))) as Record<string, unknown>;
  return { ...content, ...(answer.etag !== undefined && { etag: answer.etag }) };
}

const listIn = ({ data }: ToolContent): readonly unknown[] => (Array.isArray(data) ? data : []);

interface Reading {
  send(body: Record<string, unknown>): Promise<Answer>;
  readonly hasCursor: boolean;
}

/** As many records as fit. A page that is too long is read again with fewer, so that its cursor follows the last. */
async function readList(
  sent: Arguments,
  { send, hasCursor: pages }: Reading,
): Promise<ToolContent> {
  // Pages by cursor are in the order of the key, and not of the best matches.
  const isSorted = [sent["sort_columns"] ?? []].flat().length > 0;
  const isRanked = sent["search_mode"] === "fulltext" && !isSorted && !sent["cursor"];
  const isNumbered = typeof sent["page"] === "number" || isRanked || !pages;
  const way = isNumbered ? { page: sent["page"] ?? 1 } : { cursor: sent["cursor"] || true };
  const body: Record<string, unknown> = { per_page: agentLimits.recordsDefault, ...sent, ...way };
  for (;;) {
    const content = contentOf(await send(body));
    const { pagination, data, ...rest } = content;
    const { current_page: at, has_next, next_cursor } = pagination as Record<string, unknown>;
    const next = isNumbered
      ? has_next === true && { page: (at as number) + 1 }
      : typeof next_cursor === "string" && { cursor: next_cursor };
    const shown = { ...rest, ...goingOn(next, "read"), ...(isNumbered && { pagination }), data };
    if (fitsAnswer(shown)) return shown;
    const fewer = fittingCount(shown, listIn(content));
    if (fewer === 0) throw recordTooLarge(listIn(content)[0]);
    if (isNumbered) throw tooMany(listIn(content).length, { name: "per_page", fewer });
    body["per_page"] = fewer;
  }
}

function readOne(answer: Answer): ToolContent {
  const content = contentOf(answer);
  if (fitsAnswer(content)) return content;
  throw recordTooLarge(content["data"]);
}

async function lookUp(sent: Arguments, send: Reading["send"]): Promise<ToolContent> {
  const body = { limit: agentLimits.recordsDefault, ...sent, page: sent["page"] ?? 1 };
  const { pagination, ...content } = contentOf(await send(body));
  const isMore = (pagination as { readonly more: boolean }).more;
  const shown = { ...goingOn(isMore && { page: Number(body.page) + 1 }, "lookup"), ...content };
  if (fitsAnswer(shown)) return shown;
  throw tooMany(listIn(content).length, {
    name: "limit",
    fewer: fittingCount(shown, listIn(content)),
  });
}

async function readFigures(sent: Arguments, send: Reading["send"]): Promise<ToolContent> {
  const isGrouped = Array.isArray(sent["group_by"]) && sent["group_by"].length > 0;
  const isPaged = isGrouped && (sent["limit"] ?? null) === null;
  const paging = { per_page: agentLimits.recordsMax, ...sent, page: sent["page"] ?? 1 };
  const { pagination, ...content } = contentOf(await send(isPaged ? paging : { ...sent }));
  const { has_next = false, current_page = 1 } = (pagination ?? {}) as Record<string, unknown>;
  const shown = {
    ...goingOn(has_next === true && { page: Number(current_page) + 1 }, "aggregate"),
    ...(isPaged && { pagination }),
    ...content,
  };
  if (fitsAnswer(shown)) return shown;
  throw tooMany(listIn(content).length, {
    name: isPaged ? "per_page" : "limit",
    fewer: fittingCount(shown, listIn(content)),
  });
}

/** How the agent gets what follows; nothing if this is the end. */
function goingOn(next: false | ToolContent, tool: string): ToolContent {
  if (next === false) return {};
  const [name] = Object.keys(next);
  return {
    next,
    hint: `There is more: call ${tool} again with the same arguments and next.${name} as ${name}.`,
  };
}

function tooMany(
  count: number,
  { name, fewer }: { readonly name: string; readonly fewer: number },
): AppError {
  if (count === 0 || fewer === 0) return recordTooLarge(null);
  return invalidParameter(
    `These ${count} records are more than an answer can hold; send ${name}: ${fewer}, or select fewer fields`,
  );
}
