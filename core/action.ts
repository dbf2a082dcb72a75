/**
 * What an action is. `core/actions/<name>.ts` each hold one, `core/actions.ts` lists them, and `core/dispatch.ts` binds them
 * to every entity once, at start, so that a request finds a function that is ready to run.
 */
import type { ProjectCache } from "./cache.ts";
import { isOfDetails } from "./writes/detail-errors.ts";
import type { Entity } from "./entity.ts";
import { AppError, invalidPayload } from "./errors.ts";
import { isObject } from "./json.ts";
import type { ProjectJobs } from "./jobs/jobs.ts";
import type { RequestLocks } from "./locks/locks.ts";
import type { Clock, Db, HookCall, Log, NewId, Outbound, Queries, Session } from "./ports.ts";

export type Method = "GET" | "POST";

/** One request, as an action sees it. */
export interface Call {
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
  /** The header X-Lock-Token. */
  readonly lockToken: string | null;
  /** The header Idempotency-Key. */
  readonly idempotencyKey: string | null;
  /** Goes out as X-Request-Id. */
  readonly requestId: string;
  /** How many hooks of this service led to this request; 0 = none. */
  readonly hookDepth: number;
  /** The file of a multipart body; null where the action takes none. */
  readonly upload: Upload | null;
  readonly session: Session;
  /** When the session ends, on the clock of `performance.now()`. */
  readonly deadlineAtMs: number;
  readonly cache: ProjectCache;
  readonly locks: RequestLocks;
  readonly outbound: Outbound;
  readonly jobs: ProjectJobs;
  /**
   * Keeps the answer for repeats of the request, in the transaction that did its work: the last statement of it. Gives the answer that goes
   * out. Null: the request has no key, or the action is not repeatable. Rejects with requestInProgress when a repeat has taken over.
   */
  readonly keepAnswer: ((queries: Queries, answer: Answer) => Promise<Answer>) | null;
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
}

export interface AnsweredFile {
  /** What it is called where it is saved. */
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
  /** The bytes, or those from `start` to `end`, both included. */
  read(range?: { start: number; end: number }): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
}

export interface ActionDefinition<Needs> {
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
  /** True: the action respects Idempotency-Key, and hands its answer to `Call.keepAnswer`. Absent: never. */
  readonly isRepeatable?: boolean;
  /** What an error of this action shows beside the envelope's own members; `body` is undefined where it could not be read. */
  besideErrors?(body: unknown): Record<string, unknown>;
  /** True: errors go out with status 200 and a text in `error`, for a client that shows nothing else. Absent: never. */
  showsErrorsInline?(needs: Needs): boolean;
  /** The parts of an entity without which the action cannot work; null switches it off for that entity. */
  needs(entity: Entity): Needs | null;
  run(call: Call, needs: Needs): Promise<Answer>;
}

/** An action bound to nothing yet: its `Needs` are its own matter. */
export interface Action {
  readonly name: string;
  readonly methods: readonly Method[];
  readonly takesForm: boolean;
  readonly takesUpload: boolean;
  readonly isProjectWide: boolean;
  readonly isRepeatable: boolean;
  besideErrors(body: unknown): Record<string, unknown>;
  /** Whether errors of this entity go out with status 200. */
  showsErrorsInline(entity: Entity): boolean;
  /** The function that answers for this entity, or null when the entity lacks what the action needs. */
  bind(entity: Entity): Handler | null;
}

/** What a handler gets besides the entity that it is bound to. */
export interface Request extends Omit<Call, "entity" | "body" | "options"> {
  /** The client's JSON as parsed; undefined = none. */
  readonly body: unknown;
  /** For sessions beside the action's own. */
  readonly db: Db;
  /** A cryptographic hash as hexadecimal text. */
  readonly digest: (text: string) => string;
}

export type Handler = (request: Request) => Promise<Answer>;

export function defineAction<Needs>(definition: ActionDefinition<Needs>): Action {
  return {
    name: definition.name,
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
      return async (request) => {
        const { body, options } = definition.takesOptions
          ? unwrap(request.body)
          : { body: request.body, options: {} };
        const payload = payloadOf(body, definition.takesEmptyBody);
        try {
          return await definition.run({ ...request, entity, body: payload, options }, needs);
        } catch (error) {
          throw withoutUnseen(error, entity, payload);
        }
      };
    },
  };
}

/** The error without the names of columns that the caller neither sees nor sent; a constraint may be about any column. */
function withoutUnseen(error: unknown, entity: Entity, body: Record<string, unknown>): unknown {
  const { write, composite } = entity;
  if (!(error instanceof AppError) || error.errors === undefined || write === null) return error;
  // A handler says what the operator wants to be said.
  if (error.kind === "rejectedByHook") return error;
  // A composite's header stands inside of its body, and its details are seen to where they are written.
  const header = composite && body[write.table.name];
  const sent = isObject(header) ? header : body;
  const isKnown = (name: string) =>
    write.shown.has(name) ||
    (write.writable.has(name) && Object.hasOwn(sent, name)) ||
    composite?.details.some(({ table }) => isOfDetails(name, table.name));
  const known = Object.entries(error.errors).filter(([name]) => isKnown(name));
  if (known.length === Object.keys(error.errors).length) return error;
  const errors = known.length > 0 ? Object.fromEntries(known) : undefined;
  return new AppError(error.kind, error.message, { ...(errors && { errors }), cause: error });
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
