/** The tool `describe`: what agents can use, from the list of endpoints down to the form of one request. */
import type { BoundAction } from "../dispatch.ts";
import { labelledIn, messagesIn } from "../calls/wording.ts";
import { languageFor } from "../plans/messages.ts";
import { entityNotes, relationsOf } from "../openapi/entity-notes.ts";
import { unknownName } from "../route-hints.ts";
import type { Caller } from "../plans/caller.ts";
import type { Entity } from "../plans/entity.ts";
import { agentLimits } from "../values/agent-limits.ts";
import { closest } from "../values/closest.ts";
import { type AppError, invalidPayload, notFound } from "../values/errors.ts";
import { isObject } from "../values/json.ts";
import { type AgentRights, type EndpointRights, readingTools, rightsOf } from "./agent-rights.ts";
import { argumentsOf, bodyOf } from "./agent-tools.ts";
import { fitsAnswer } from "./fitting.ts";
import { mergedSchema } from "./merged-schema.ts";
import type { Arguments, ToolCall, ToolContent } from "./run-tool.ts";

/** `language`: the header Accept-Language, for labels. Throws an AppError for unknown names. */
export function describeFor(
  { endpoint, action, ...more }: Arguments,
  { agents, caller }: Pick<ToolCall, "agents" | "caller">,
  language: string | null,
): ToolContent {
  const [unknown] = Object.keys(more);
  if (unknown !== undefined)
    throw invalidPayload(
      `Unknown argument ${JSON.stringify(unknown.slice(0, 100))}; describe takes endpoint and action`,
    );
  const rights = rightsOf(agents, caller);
  const chosen = languageFor(language, messagesIn(agents.routes));
  const viewOf = (bound: BoundAction): Entity | null => {
    const view = bound.viewFor(caller);
    return view && labelledIn(chosen, view);
  };
  if (endpoint === undefined && action === undefined) return listOf(rights, viewOf);
  const own = typeof endpoint === "string" ? rights.endpoints.get(endpoint) : undefined;
  const names = [...rights.endpoints.keys()];
  if (typeof endpoint !== "string")
    throw invalidPayload(
      `endpoint is required: ${names.slice(0, agentLimits.namesListedMax).join(", ")}`,
    );
  if (own === undefined) throw unlisted("endpoint", endpoint, names);
  if (action !== undefined) return formOf({ endpoint, action, own }, caller);
  return notesOf(endpoint, { rights, own, viewOf });
}

/** The name that was probably meant, or the names that there are. */
function unlisted(what: string, name: string, known: readonly string[]): AppError {
  if (closest(name, known) !== null) return unknownName(what, name, known);
  const listed = known.slice(0, agentLimits.namesListedMax).join(", ");
  return notFound(`Unknown ${what} ${JSON.stringify(name.slice(0, 100))}; there are ${listed}`);
}

type ViewOf = (bound: BoundAction) => Entity | null;

function listOf({ endpoints }: AgentRights, viewOf: ViewOf): ToolContent {
  const all = [...endpoints].map(([name, own]) => {
    const [bound] = [...own.reads.values(), ...own.writes.values()];
    const label = (bound && viewOf(bound))?.console?.label ?? null;
    return { endpoint: name, ...(label !== null && { label }), ...usesOf(own) };
  });
  const hint =
    "describe with an endpoint shows its fields and relations; with an action too, the form of the request.";
  const whole = { endpoints: all, hint };
  return fitsAnswer(whole) ? whole : { endpoints: [...endpoints.keys()], hint };
}

const usesOf = ({ reads, writes }: EndpointRights): ToolContent => ({
  tools: [...reads.keys()],
  ...(writes.size > 0 && { write: [...writes.keys()] }),
});

function notesOf(
  endpoint: string,
  {
    rights,
    own,
    viewOf,
  }: { readonly rights: AgentRights; readonly own: EndpointRights; readonly viewOf: ViewOf },
): ToolContent {
  const all = new Map(
    [...rights.endpoints].map(([name, { reads, writes }]) => [
      name,
      new Map<string, BoundAction>([...reads, ...writes]),
    ]),
  );
  const views = [...own.reads, ...own.writes].flatMap(([action, bound]) => {
    const entity = viewOf(bound);
    return entity === null ? [] : { action, entity };
  });
  const { console: _, ...notes } = entityNotes(endpoint, views, relationsOf(all, viewOf));
  const whole = {
    ...notes,
    ...usesOf(own),
    hint: "The names of fields are those of where, select, sort_columns and bodies; fields of a related record are named relation.field.",
  };
  if (fitsAnswer(whole)) return whole;
  const fields = isObject(notes["fields"]) ? notes["fields"] : {};
  const types = Object.entries(fields).map(([name, note]) => [
    name,
    isObject(note) ? note["type"] : note,
  ]);
  return {
    endpoint,
    key: notes["key"],
    ...usesOf(own),
    hint: "The endpoint has more fields and relations than an answer can hold: these are the types of its own fields.",
    fields: Object.fromEntries(types),
  };
}

interface Asked {
  readonly endpoint: string;
  readonly action: unknown;
  readonly own: EndpointRights;
}

function formOf({ endpoint, action, own }: Asked, caller: Caller): ToolContent {
  const known = [...own.reads.keys(), ...own.writes.keys()];
  if (typeof action !== "string") throw invalidPayload(`action must be one of ${known.join(", ")}`);
  const tool = readingTools.find((name) => name === action);
  const reading = tool && own.reads.get(tool);
  if (tool && reading) {
    const schema = argumentsOf(tool, reading, caller);
    const whole = { endpoint, action, arguments: mergedSchema(schema ? [schema] : []) };
    return fitsAnswer(whole)
      ? whole
      : { ...whole, arguments: mergedSchema(schema ? [schema] : [], ["expand"]) };
  }
  const bound = own.writes.get(action);
  if (bound === undefined) throw unlisted("action", action, known);
  const schema = bodyOf(bound, caller);
  const body = mergedSchema(schema ? [schema] : []);
  const whole = { endpoint, action, body };
  if (fitsAnswer(whole)) return whole;
  return {
    endpoint,
    action,
    required: body.required ?? [],
    fields: Object.keys(body.properties ?? {}),
    hint: "The form is larger than an answer can be. describe without action has the types of fields.",
  };
}
