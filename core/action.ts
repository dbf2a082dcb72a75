/**
 * What an action is. `core/actions/<name>.ts` each hold one, `core/actions.ts` lists them, and `core/bind.ts` binds them to
 * entities, so that a request finds a function that is ready to run.
 */
import type { ProjectCache } from "./cache.ts";
import type { Caller } from "./callers/caller.ts";
import type { Queries, ReadSession } from "./callers/session.ts";
import type { Entity } from "./entity.ts";
import { invalidPayload } from "./errors.ts";
import { isObject, type Json } from "./json.ts";
import type { ProjectJobs } from "./jobs/jobs.ts";
import type { RequestLocks } from "./locks/locks.ts";
import type { Clock, HookCall, Log, NewId, Outbound } from "./ports.ts";

export type Method = "GET" | "POST";

/** One request, as an action sees it. */
export interface Call {
  /** Who asks. What the caller may see has narrowed everything else in the call already. */
  readonly caller: Caller;
  /** With the columns that the caller may see and write. */
  readonly entity: Entity;
  readonly method: Method;
  /** The header X-Request-Mode. */
  readonly requestMode: string | null;
  /** The body, unwrapped from `{data, options}`, or the query of a GET; own properties are what the client sent. */
  readonly body: Record<string, unknown>;
  /** The client's `options`; no option has an effect of its own. */
  readonly options: Record<string, unknown>;
  /** The header If-Match. */
  readonly ifMatch: string | null;
  /** Goes out as X-Request-Id. */
  readonly requestId: string;
  /** How many hooks of this service led to this request; 0 = none. */
  readonly hookDepth: number;
  /** The file of a multipart body; null where the action takes none. */
  readonly upload: Upload | null;
  /** Rows within the caller's scope. What writes gets its own in `Write.run`. */
  readonly session: ReadSession;
  /** When the session ends, on the clock of `performance.now()`. */
  readonly deadlineAtMs: number;
  /** Answers that were kept for callers of the same scope. */
  readonly cache: ProjectCache;
  /** Locks on records within the caller's scope. */
  readonly locks: RequestLocks;
  readonly outbound: Outbound;
  readonly jobs: ProjectJobs;
  readonly now: Clock;
  readonly newId: NewId;
  readonly log: Log;
}

/** The one file of a request, while it arrives. */
export interface Upload {
  /** As the client calls it: good for its ending alone. */
  readonly name: string;
  /** To be read once. Rejects with `invalidPayload` when the body is cut short, or holds anything else beside the file. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** A successful answer; the edge adds `success` and `timestamp`. */
export interface Answer {
  readonly status: 200 | 201;
  /** Members of the envelope in the order in which they are shown. */
  readonly body: Record<string, unknown>;
  /** JSON text of an object whose members follow those of the body. It goes out as it is, without being parsed. */
  readonly rest?: string;
  /** True: the body is the whole answer, without `success` and `timestamp`. */
  readonly isBare?: boolean;
  readonly etag?: string;
  /** The envelope's time; absent: now. */
  readonly answeredAt?: string;
  /** True: an earlier request with the same Idempotency-Key got this answer. */
  readonly isReplayed?: boolean;
  /** Calls to make once everybody can see what the action wrote. */
  readonly later?: readonly HookCall[];
  /** The answer is this file, and no JSON at all. */
  readonly file?: AnsweredFile;
  /** The key of the record in `data`, as `keyAsJson` gives it: a repeat of the request shows the record only to who may see it then. */
  readonly subject?: Json;
}

export interface AnsweredFile {
  /** What it is called where it is saved. */
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
  /** The bytes, or those from `start` to `end`, both included. */
  read(range?: { start: number; end: number }): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
}

/** What an action does to rows: the driver in `bind.ts` opens the transaction that follows from it. */
export type Mode = "reads" | "writes" | "starts a job";

/** The work of an action that writes: everything that it does in the database is one transaction. */
export interface Write {
  /** True: `run` sends one statement, which is atomic without a transaction around it. */
  readonly isOneStatement: boolean;
  /** Runs again after a deadlock, so it has no effect outside of the database. */
  run(queries: Queries): Promise<Answer>;
  /** What to do in another transaction after this failure; null: the failure stands. */
  instead?(failure: unknown): Write | null;
}

/** What every action says of itself. */
interface Described<Needs> {
  /** As in the URL. */
  readonly name: string;
  readonly methods: readonly Method[];
  /** True: a body `{data, options}` is taken apart. */
  readonly takesOptions: boolean;
  /** True: no body, or `{}`, asks for all the defaults; otherwise it is refused. */
  readonly takesEmptyBody: boolean;
  /** True: a body in form encoding with bracketed names is taken too; absent: JSON alone. */
  readonly takesForm?: boolean;
  /** True: the body is multipart and holds one file, and nothing else. Absent: never. */
  readonly takesUpload?: boolean;
  /** True: also reached at `/api/{project}/{action}`, with the endpoint's name as `resource` in the body; absent: never. */
  readonly isProjectWide?: boolean;
  /** True: the action respects Idempotency-Key: its answer is kept in the transaction that did the work. Absent: never. */
  readonly isRepeatable?: boolean;
  /** What an error of this action shows beside the envelope's own members; `body` is undefined where it could not be read. */
  besideErrors?(body: unknown): Record<string, unknown>;
  /** True: errors go out with status 200 and a text in `error`, for a client that shows nothing else. Absent: never. */
  showsErrorsInline?(needs: Needs): boolean;
  /** The parts of an entity without which the action cannot work; null switches it off for that entity. */
  needs(entity: Entity): Needs | null;
}

/** Changes no row. */
export interface ReadingDefinition<Needs> extends Described<Needs> {
  readonly mode: "reads";
  run(call: Call, needs: Needs): Promise<Answer>;
}

/** Hands work over to a job, or tells what became of one. */
export interface JobDefinition<Needs> extends Described<Needs> {
  readonly mode: "starts a job";
  run(call: Call, needs: Needs): Promise<Answer>;
}

/** Changes rows. */
export interface WritingDefinition<Needs> extends Described<Needs> {
  readonly mode: "writes";
  /** Checks the request and takes its locks, before anything is written; gives the work that then runs in a transaction. */
  begin(call: Call, needs: Needs): Write | Promise<Write>;
}

export type ActionDefinition<Needs> =
  | ReadingDefinition<Needs>
  | JobDefinition<Needs>
  | WritingDefinition<Needs>;

/** An action whose `Needs` are its own matter. */
export interface Action {
  readonly name: string;
  readonly mode: Mode;
  readonly methods: readonly Method[];
  readonly takesForm: boolean;
  readonly takesUpload: boolean;
  readonly isProjectWide: boolean;
  readonly isRepeatable: boolean;
  besideErrors(body: unknown): Record<string, unknown>;
  /** Whether errors of this entity go out with status 200. */
  showsErrorsInline(entity: Entity): boolean;
  /** The function that answers for this entity, or null when the entity lacks what the action needs. */
  bind(entity: Entity): Bound | null;
}

/** An action with the parts of one entity. */
export type Bound = Payload & (BoundWork | BoundWrite);

interface Payload {
  /** The body that the action sees, and the client's options. Rejects with Invalid payload. */
  read(sent: unknown): Pick<Call, "body" | "options">;
}

interface BoundWork {
  readonly mode: "reads" | "starts a job";
  run(call: Call): Promise<Answer>;
}

interface BoundWrite {
  readonly mode: "writes";
  begin(call: Call): Write | Promise<Write>;
}

export function defineAction<Needs>(definition: ActionDefinition<Needs>): Action {
  return {
    name: definition.name,
    mode: definition.mode,
    methods: definition.methods,
    takesForm: definition.takesForm ?? false,
    takesUpload: definition.takesUpload ?? false,
    isProjectWide: definition.isProjectWide ?? false,
    isRepeatable: definition.isRepeatable ?? false,
    besideErrors: (body) => definition.besideErrors?.(body) ?? {},
    showsErrorsInline(entity) {
      const needs = definition.needs(entity);
      return needs !== null && (definition.showsErrorsInline?.(needs) ?? false);
    },
    bind(entity) {
      const needs = definition.needs(entity);
      if (needs === null) return null;
      const read = (sent: unknown): Pick<Call, "body" | "options"> => {
        const { body, options } = definition.takesOptions
          ? unwrap(sent)
          : { body: sent, options: {} };
        return { body: payloadOf(body, definition.takesEmptyBody), options };
      };
      if (definition.mode === "writes")
        return { mode: "writes", read, begin: (call) => definition.begin(call, needs) };
      return { mode: definition.mode, read, run: (call) => definition.run(call, needs) };
    },
  };
}

/** `{data: {...}, options: {...}}` and nothing else is the wrapped form; all else is a plain body. */
function unwrap(body: unknown): { body: unknown; options: Record<string, unknown> } {
  if (
    isObject(body) &&
    isObject(body["data"]) &&
    isObject(body["options"]) &&
    Object.keys(body).length === 2
  ) {
    return { body: body["data"], options: body["options"] };
  }
  return { body, options: {} };
}

function payloadOf(body: unknown, mayBeEmpty: boolean): Record<string, unknown> {
  const payload = body === undefined ? {} : body;
  if (!isObject(payload)) throw invalidPayload("The payload must be a JSON object");
  if (!mayBeEmpty && Object.keys(payload).length === 0)
    throw invalidPayload("The payload is empty");
  return payload;
}
