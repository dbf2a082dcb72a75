/**
 * `changes` and `changes/ticket`: what was committed in endpoints with `live`, as a stream of events or as a list. They
 * belong to the project, because one stream tells of several endpoints.
 */
import { type Action, projectAction } from "../calls/action.ts";
import type { AnsweredStream, Answer } from "../calls/answer.ts";
import { allErrors } from "../calls/action-errors.ts";
import { refuseUnknown } from "../calls/payload.ts";
import type { Handler, Request } from "../calls/handler.ts";
import type { Access } from "../callers/access.ts";
import { type Entities, scopeWithRelated } from "../callers/related-views.ts";
import { object, unread } from "../grammar/grammar.ts";
import type { Caller } from "../plans/caller.ts";
import type { Entity } from "../plans/entity.ts";
import { type Condition, sourceOf } from "../query/statement.ts";
import { AppError, invalidParameter, notFound } from "../values/errors.ts";
import { isObject } from "../values/json.ts";
import { hashOf } from "../values/hash.ts";
import { limits } from "../values/limits.ts";
import { readWholeNumber } from "../values/types/numbers.ts";
import { type ChangeEvent, EventBuilder, type Watched } from "../changes/change-events.ts";
import { keptSince } from "../changes/change-log.ts";
import {
  type ChangeOrder,
  changesAfter,
  type PlacedChange,
  type Reached,
} from "../changes/change-order.ts";
import { endOfWrite, type Feed } from "../changes/feed.ts";
import type { StreamLimits } from "../plans/open-streams.ts";
import { unsealNumber, type Seal, sealNumber } from "../changes/sealed-numbers.ts";
import { openEventStream } from "./event-stream.ts";
import { issueTicket } from "./tickets.ts";

export const changesName = "changes";
export const ticketName = "changes/ticket";
export const isAboutChanges = (wideName: string): boolean =>
  wideName === changesName || wideName === ticketName;

/** An action of an endpoint, as `dispatch.ts` binds it. */
interface BoundRead {
  readonly entity: Entity | null;
  viewFor(caller: Caller): Entity | null;
  /** Rejects if the caller may not use the action. */
  handlerFor(caller: Caller): Handler;
  mayUse(caller: Caller): boolean;
}

interface BoundChanges extends BoundRead {
  readonly action: Action;
  readonly entity: null;
  readonly showsErrorsInline: boolean;
}

interface Binding {
  readonly within: { readonly access: Access; readonly entities: Entities };
  /** Null: where no process stays, there are no streams. */
  readonly streams: StreamLimits | null;
}

/** Of a path that does not exist. `hasList`: changes can be asked for. */
export const noChangesAt = ({ hasList }: { hasList: boolean }): AppError =>
  notFound(
    hasList
      ? `There are no streams here, and so no tickets; ask with POST ${changesName}`
      : 'No endpoint tells of its changes; the operator sets "live": true in its file',
  );

const errors = allErrors({ mode: "reads", errors: ["invalidParameter", "tooManyRequests"] });

export const changesAction = projectAction({
  name: changesName,
  summary: "Tells of committed changes, as a stream or as a list.",
  mode: "reads",
  methods: ["GET", "POST"],
  errors,
});

export const ticketAction = projectAction({
  name: ticketName,
  summary: "Gives a ticket for one stream of changes.",
  mode: "reads",
  methods: ["POST"],
  errors,
});

/** Empty where no endpoint is live. `endpoints`: by name, their actions by name. */
export function boundChanges(
  endpoints: ReadonlyMap<string, ReadonlyMap<string, BoundRead>>,
  binding: Binding,
): BoundChanges[] {
  const live = new Map(
    [...endpoints].flatMap(([name, actions]): [string, BoundRead][] => {
      const read = actions.get("read");
      return read?.entity?.changes.live.has(name) ? [[name, read]] : [];
    }),
  );
  if (live.size === 0) return [];
  const open = binding.streams && { limits: binding.streams, eventId: createEventIds() };
  const bound = (action: Action, run: Handler["run"]): BoundChanges => ({
    action,
    entity: null,
    viewFor: () => null,
    handlerFor: () => ({ run, replay: async (_, answer) => answer, viewKey: () => "" }),
    mayUse: (caller) => [...live.values()].some((read) => read.mayUse(caller)),
    showsErrorsInline: false,
  });
  const isStrict = [...live.values()].some(
    ({ entity }) => entity!.settings.unknownMembers === "refuse",
  );
  const list: Action = open === null ? { ...changesAction, methods: ["POST"] } : changesAction;
  const changes = bound(list, async (request) => {
    if (isStrict) refuseUnknownMembers(request, listMembers);
    const asked = readRequest(request);
    const watched = asked.endpoints.map((name) =>
      watchedBy(request.caller, name, { live, binding }),
    );
    return request.method === "GET" && open !== null
      ? { status: 200, body: {}, stream: await streamOf(request, { asked, watched, open }) }
      : listOf(request, { asked, watched });
  });
  let issued = 0;
  const ticket = bound(ticketAction, async (request) => {
    if (isStrict) refuseUnknownMembers(request, []);
    const data = await issueTicket(request.caller, { ...request, count: issued++ });
    return { status: 200, body: { data } };
  });
  return open === null ? [changes] : [changes, ticket];
}

const listMembers = ["endpoints", "since", "limit"];

function refuseUnknownMembers({ body, method }: Request, known: readonly string[]): void {
  const isQuery = method === "GET";
  const names = isQuery ? [...known, "ticket"] : known;
  const members = Object.fromEntries(names.map((name) => [name, unread(() => ({}))]));
  refuseUnknown(object(members), body, isQuery ? "query" : "payload");
}

interface Asked {
  readonly endpoints: readonly string[];
  /** Null: from now on. */
  readonly since: string | null;
  /** Events at most. */
  readonly limit: number;
}

function readRequest({ body, method }: Request): Asked {
  const sent = isObject(body) ? body : {};
  const { endpoints, since = null, limit = limits.eventsDefault } = sent;
  const isText = method === "GET" && typeof endpoints === "string";
  const names = isText ? endpoints.split(",").flatMap((name) => name.trim() || []) : endpoints;
  if (!Array.isArray(names) || names.length === 0 || !names.every((one) => typeof one === "string"))
    throw invalidParameter("endpoints must name at least one endpoint");
  if (since !== null && typeof since !== "string")
    throw invalidParameter("since must be the text of an earlier answer");
  const most = readWholeNumber(limit);
  if (
    most === null ||
    most < 1 ||
    most > limits.eventsMax ||
    (method === "POST" && typeof limit !== "number")
  )
    throw invalidParameter(`limit must be a whole number from 1 to ${limits.eventsMax}`);
  return { endpoints: [...new Set<string>(names)], since, limit: most };
}

/** Rejects with `notFound` if the endpoint is not live, and if the caller may not read it. */
function watchedBy(
  caller: Caller,
  name: string,
  { live, binding: { within } }: { live: ReadonlyMap<string, BoundRead>; binding: Binding },
): Watched {
  const read = live.get(name);
  if (read === undefined)
    throw notFound(`The endpoint ${JSON.stringify(name)} tells of no changes`);
  read.handlerFor(caller);
  const { write, changes, visibility, read: list, grid, lookup } = read.viewFor(caller)!;
  const scope = scopeWithRelated(caller, { entity: read.entity!, action: "read" }, within);
  const { table, shown, namesRecords } = write!;
  const { kept, stamps, keepDays } = changes.recorded.get(table.identity)!;
  const readsTable = [list!, grid ?? list!].every(
    ({ source }) => source.kind === "table" && source.identity === table.identity,
  );
  const scopes = [list!.scope, lookup?.scope ?? null].flatMap(columnsIn);
  const columns = new Set([...shown.keys(), ...scopes]);
  // Views show what they make of other columns, and of those that are not recorded it is not known whether they changed.
  const isKnown = readsTable && [...columns].every((one) => kept.has(one));
  return {
    endpoint: name,
    table: table.identity,
    rows: scope.rowsOf(sourceOf(table)),
    sees: (visibility?.own && visibility.seen.get("read")) ?? "all",
    keepDays,
    namesRecords,
    columns: isKnown ? columns.difference(stamps) : null,
  };
}

/** The columns of the table that decide whether a record is in a list. */
const columnsIn = (scope: Condition | null): string[] => {
  if (scope === null) return [];
  if ("members" in scope) return scope.members.flatMap(columnsIn);
  return "column" in scope ? [scope.column.name] : [];
};

/** Where a client is: after all events of the writes up to `place`, and after `told` events behind them. */
interface Position {
  readonly place: number;
  readonly told: number;
}

interface Places extends Pick<Request, "digest" | "newId"> {
  readonly order: ChangeOrder;
  /** Those that the client asks for: a number of events behind a place is of these. */
  readonly endpoints: readonly string[];
}

const placeBits = 53n;
const toldBits = 24n;
const namesBits = 16n;
const randomDigits = 8;

const namesIn = ({ endpoints }: Places): bigint => {
  const hash = Number.parseInt(hashOf(JSON.stringify(endpoints.toSorted())), 36);
  return BigInt.asUintN(Number(namesBits), BigInt(hash));
};

const placeSeal = ({ digest, order: { logId: secret } }: Places): Seal => ({
  digest,
  secret,
  kind: "place",
});

/** Another text each time: also whether a place is still the same would tell of the writes of others. */
function positionText(places: Places, { place, told }: Position): string {
  const random = BigInt(`0x${places.newId().replaceAll("-", "").slice(0, randomDigits)}`);
  const named = (random << namesBits) | namesIn(places);
  const number = (((named << placeBits) | BigInt(place)) << toldBits) | BigInt(told);
  return sealNumber(number, placeSeal(places));
}

/** Null: nothing is known of what followed. */
function positionIn(since: string, places: Places): Position | null {
  const number = unsealNumber(since, placeSeal(places));
  if (number === null) return null;
  const place = Number(BigInt.asUintN(Number(placeBits), number >> toldBits));
  const { first, last } = places.order;
  if (place < first || place > last) return null;
  // Other endpoints have other events; one may be told twice, and none is passed over.
  const named = BigInt.asUintN(Number(namesBits), number >> (toldBits + placeBits));
  const told = named === namesIn(places) ? Number(BigInt.asUintN(Number(toldBits), number)) : 0;
  return { place, told };
}

/** Whether more happened since than is kept: writes follow each other in time, and this is the first one. */
function isOlder(change: PlacedChange | undefined, watched: readonly Watched[], now: string) {
  return (
    change !== undefined && watched.some((one) => change.at < (keptSince(one, now) ?? change.at))
  );
}

interface Telling {
  readonly asked: Asked;
  readonly watched: readonly Watched[];
}

/** The events after the client's position, as far as `limit` goes. */
async function listOf(
  { feed, deadlineAtMs, db, caller, share, now: clock, ...naming }: Request,
  { asked: { endpoints, since, limit }, watched }: Telling,
): Promise<Answer> {
  const order = await feed.order(deadlineAtMs);
  const places = { ...naming, order, endpoints };
  const now = positionText(places, { place: order.last, told: 0 });
  if (since === null) return { status: 200, body: { data: [], since: now } };
  const begin = positionIn(since, places);
  const reset: Answer = { status: 200, body: { data: [], since: now, reset: true } };
  if (begin === null) return reset;
  const session = db.session(deadlineAtMs, { caller, share });
  const builder = new EventBuilder(watched);
  const data: ChangeEvent[] = [];
  let { place, told: skipped } = begin;
  let reached: Reached = { place, id: endOfWrite };
  for (;;) {
    const rows = await changesAfter(session, reached, limits.inValuesMax);
    if (isOlder(rows[0], watched, clock())) return reset;
    const isEnd = rows.length < limits.inValuesMax;
    for (const write of builder.add(rows, isEnd)) {
      const fresh = write.events.slice(skipped);
      const room = limit - data.length;
      data.push(...fresh.slice(0, room));
      if (fresh.length > room || (fresh.length === room && fresh.length > 0)) {
        const isWhole = fresh.length === room;
        const told = isWhole ? 0 : skipped + room;
        const at = isWhole ? write.place : place;
        return { status: 200, body: { data, since: positionText(places, { place: at, told }) } };
      }
      skipped = Math.max(0, skipped - write.events.length);
      place = write.place;
    }
    if (isEnd) break;
    const last = rows.at(-1)!;
    reached = { place: last.place, id: last.id };
  }
  const end = { place: Math.max(place, order.last), told: 0 };
  return { status: 200, body: { data, since: positionText(places, end) } };
}

/** The id of an event: made once for all streams that are told of the same write. */
type EventId = (places: Places, place: number) => string;

function createEventIds(): EventId {
  let made = { secret: "", place: -1, text: "" };
  return (places, place) => {
    const { logId: secret } = places.order;
    if (made.place !== place || made.secret !== secret)
      made = { secret, place, text: positionText(places, { place, told: 0 }) };
    return made.text;
  };
}

/** Counts one more stream of the caller; returns the function to call at its end. Rejects with `tooManyRequests`. */
async function takeStream({ streams }: Feed, share: string, most: StreamLimits) {
  if (!(await streams.take(share, most)))
    throw new AppError("tooManyRequests", "Too many streams are open; close one of them first");
  let isOpen = true;
  return () => {
    if (isOpen) streams.release(share);
    isOpen = false;
  };
}

async function streamOf(
  { feed, deadlineAtMs, db, caller, share, lastEventId, now, ...naming }: Request,
  { asked, watched, open }: Telling & { open: { limits: StreamLimits; eventId: EventId } },
): Promise<AnsweredStream> {
  const order = await feed.order(deadlineAtMs);
  const places = { ...naming, order, endpoints: asked.endpoints };
  const since = lastEventId ?? asked.since;
  const known = since === null ? null : positionIn(since, places);
  const next = known && { place: known.place, id: endOfWrite };
  const [first] = next ? await changesAfter(db.session(deadlineAtMs), next, 1) : [];
  const begin = isOlder(first, watched, now()) ? null : known;
  const release = await takeStream(feed, share(), open.limits);
  const position = begin ?? { place: order.last, told: 0 };
  return {
    mediaType: "text/event-stream",
    open: () =>
      openEventStream({
        feed,
        builder: new EventBuilder(watched),
        begin: position,
        isReset: since !== null && begin === null,
        beginId: positionText(places, position),
        idOf: (place) => positionText(places, { place, told: 0 }),
        eventId: (place) => open.eventId(places, place),
        untilMs: endOf(caller),
        release,
      }),
  };
}

/** When the credentials end, in milliseconds since 1970; null = not by themselves. Tokens have a finite `exp`. */
function endOf({ kind, claims }: Caller): number | null {
  return kind === "token" ? Number(claims["exp"]) * 1_000 : null;
}
