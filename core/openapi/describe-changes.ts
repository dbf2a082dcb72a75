/** The operations `/api/{project}/changes` and `changes/ticket`, for the live endpoints that the caller may read. */
import type { Routes } from "../dispatch.ts";
import { changesName, ticketName } from "../live/changes-action.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import { closedObject, wholeObject } from "../values/json-shapes.ts";
import { limits } from "../values/limits.ts";
import type { ViewOf } from "./describe-endpoint.ts";
import type { Paths } from "./operation.ts";
import { type ProjectPlace, projectOperation } from "./project-operation.ts";

/** The names of the endpoints whose changes the caller may be told. */
export const liveEndpoints = (endpoints: Routes["endpoints"], viewOf: ViewOf): string[] =>
  [...endpoints].flatMap(([name, actions]) => {
    const read = actions.get("read");
    const isLive = read?.entity?.changes.live.has(name) === true;
    return isLive && viewOf(read) !== null ? [name] : [];
  });

export function describeChanges(
  { endpoints, projectWide }: Pick<Routes, "endpoints" | "projectWide">,
  viewOf: ViewOf,
  place: ProjectPlace,
): Paths {
  const changes = projectWide.get(changesName);
  const tickets = projectWide.get(ticketName);
  const live = liveEndpoints(endpoints, viewOf);
  if (changes === undefined || live.length === 0) return {};
  const listed = projectOperation(
    {
      bound: changes,
      name: "changesList",
      method: "POST",
      request: requestSchema(live),
      answer: listSchema(live),
      description: "The events behind `since`, and the place to go on from.",
      headers: ["X-Request-Id"],
    },
    place,
  );
  // Where no process stays, there are no streams.
  if (tickets === undefined) return { [`${place.path}/${changesName}`]: { post: listed } };
  const streamed = projectOperation(
    {
      bound: changes,
      name: "changesStream",
      method: "GET",
      request: null,
      query: [
        { ...inQuery("endpoints", "Names of endpoints, separated by commas."), required: true },
        inQuery("since", "An id of an earlier event. The header Last-Event-ID counts before it."),
        inQuery("ticket", "Of changes/ticket, in place of credentials."),
      ],
      answer: "text/event-stream",
      description: "Events named `change` and `reset`, until the client leaves.",
      headers: ["X-Request-Id"],
    },
    place,
  );
  const ticket = projectOperation(
    {
      bound: tickets,
      name: "changesTicket",
      method: "POST",
      request: null,
      answer: ticketSchema,
      description: "A ticket for one stream.",
      headers: ["X-Request-Id"],
    },
    place,
  );
  return {
    [`${place.path}/${changesName}`]: { get: streamed, post: listed },
    [`${place.path}/${ticketName}`]: { post: ticket },
  };
}

const inQuery = (name: string, description: string) => ({
  name,
  in: "query",
  description,
  schema: { type: "string" },
});

const requestSchema = (live: readonly string[]): JsonSchema =>
  closedObject(
    {
      endpoints: { type: "array", minItems: 1, items: { enum: live } },
      since: {
        type: ["string", "null"],
        description: "Of an earlier answer; absent: nothing but the present place.",
      },
      limit: {
        type: "integer",
        minimum: 1,
        maximum: limits.eventsMax,
        default: limits.eventsDefault,
      },
    },
    ["endpoints"],
  );

const listSchema = (live: readonly string[]): JsonSchema =>
  closedObject(
    {
      data: {
        type: "array",
        items: wholeObject({
          endpoint: { enum: live },
          type: { enum: ["created", "updated", "deleted"] },
          keys: {
            type: ["array", "null"],
            items: { type: "object" },
            description: "Keys of the records; null: too many, or hidden from the caller.",
          },
          at: { type: "string", format: "date-time" },
          request_id: { type: "string" },
        }),
      },
      since: { type: "string" },
      reset: { const: true, description: "What happened since then is not known: load again." },
    },
    ["data", "since"],
  );

const ticketSchema: JsonSchema = wholeObject({
  data: wholeObject({
    ticket: { type: "string" },
    expires_at: { type: "string", format: "date-time" },
  }),
});
