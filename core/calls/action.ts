/**
 * The definition of an action. Each `core/actions/<name>.ts` contains one, `core/actions.ts` lists them, and
 * `core/bind.ts` binds them to entities, so that a request finds a function that is ready to run.
 */
import type { ProjectCache } from "../cache/cache.ts";
import type { Caller } from "../plans/caller.ts";
import type { Scope } from "../callers/scope.ts";
import type { Queries, ReadSession, Transaction } from "../query/session.ts";
import { allErrors, type RequestHeader } from "./action-errors.ts";
import type { Answer, AnswerForm } from "./answer.ts";
import type { Entity } from "../plans/entity.ts";
import type { ErrorKind } from "../values/errors.ts";
import type { EventName } from "../plans/hook.ts";
import type { Source, Table } from "../values/types/column.ts";
import { isObject, type Json } from "../values/json.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import type { ProjectJobs } from "../jobs/jobs.ts";
import type { RecordFiles } from "../files/record-files.ts";
import type { RequestLocks } from "../locks/locks.ts";
import type { Grammar } from "../grammar/grammar.ts";
import { type ActionGroup, onlyUsesDatabase, type Requirement } from "./requirement.ts";
import { paramsOfSource, withParams } from "./params.ts";
import { payloadReader, type ReadPayload } from "./payload.ts";
import type { Log } from "../plans/log-port.ts";
import type { Background } from "../plans/hook-call.ts";
import type { Outbound } from "../plans/outbound-port.ts";
import type { Clock, NewId } from "../values/clock.ts";

export type Method = "GET" | "POST";

/** What an action can check of a request before its body is read. */
export interface SentHeaders {
  readonly method: Method;
  /** The header X-Request-Mode. */
  readonly requestMode: string | null;
}

/** One request, as an action sees it. */
export interface Call extends Pick<Scope, "fills" | "refusedColumn"> {
  /** The caller. Everything else in the call is already restricted to what the caller may access. */
  readonly caller: Caller;
  /**
   * Whose limit of locks and waiting jobs the request counts toward; see `shareOf`. A function, because finding the
   * client's address takes longer than the rest of a small request's bookkeeping, and few requests need it.
   */
  readonly share: () => string;
  /** With the columns that the caller may see and write. */
  readonly entity: Entity;
  /** Precedes `/api` in the addresses of answers; empty unless the service is mounted below a path. */
  readonly basePath: string;
  readonly method: Method;
  /** The client asks for csv, which `answersCsv` allows. */
  readonly wantsCsv: boolean;
  /** What the action's grammar read from `body`. */
  readonly input: unknown;
  /** The body, unwrapped from `{data, options}`, or the query of a GET; own properties are what the client sent. */
  readonly body: Record<string, unknown>;
  /** The client's `options`; the service itself uses none of them. */
  readonly options: Record<string, unknown>;
  /** The header Accept-Language. */
  readonly language: string | null;
  /** The header If-Match. */
  readonly ifMatch: string | null;
  /** Everything happens and is undone. `bind.ts` undoes what is written; other effects ask for it themselves. */
  readonly dryRun: boolean;
  /** Sent as X-Request-Id. */
  readonly requestId: string;
  /** How many nested hook calls of this service led to this request; 0 = none. */
  readonly hookDepth: number;
  /** The file of a multipart body; null if the action accepts none. */
  readonly upload: Upload | null;
  /** Reads rows within the caller's scope. Writing actions get their own session in `Write.run`. */
  readonly session: ReadSession;
  /** As `fills`, for new lines of a document. */
  readonly lineFills: (table: Table) => ReadonlyMap<string, Json>;
  /** The caller may also see, download and cancel the jobs of others. */
  readonly reachesAllJobs: boolean;
  /** Whether the caller may use another action of the endpoint; where that one is off, this one's right is enough. */
  readonly mayAlso: (action: string) => boolean;
  /** When the session ends (clock of `performance.now()`). */
  readonly deadlineAtMs: number;
  /** Cached answers for callers of the same scope. */
  readonly cache: ProjectCache;
  /** Locks on records within the caller's scope. */
  readonly locks: RequestLocks;
  readonly outbound: Outbound;
  /** Null: non-blocking hooks wait for the end of the batch, or are not called at all. */
  readonly background: Background | null;
  readonly jobs: ProjectJobs;
  readonly files: RecordFiles;
  readonly now: Clock;
  readonly newId: NewId;
  /** A cryptographic hash as hexadecimal text. */
  readonly digest: (text: string) => string;
  readonly log: Log;
}

/** The one file of a request, while it arrives. */
export interface Upload {
  /** The client's name of the file. */
  readonly name: string;
  /**
   * The texts beside the file, by the names of their parts: only those that the action asks for. Those that follow the
   * file are here when its bytes were read.
   */
  readonly fields: ReadonlyMap<string, string>;
  /** The media type that the client gives the file, in lower case without parameters; empty: none. */
  readonly mediaType: string;
  /**
   * Can be read once. Rejects with `invalidPayload` when the body is incomplete or contains another file.
   */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** What an action does to rows. `bind.ts` opens the transaction that the mode requires. */
export type Mode = "reads" | "writes" | "starts a job";

/** The work of a writing action. It runs in one transaction. */
export type Write = WriteIn<Queries, true> | WriteIn<Transaction, false>;

interface WriteIn<In, IsOne extends boolean> {
  /** True: `run` sends a single statement, which needs no transaction. */
  readonly isOneStatement: IsOne;
  /** Runs again after a deadlock, so it must have no effect outside the database. */
  run(queries: In): Promise<Answer>;
  /** Work to do in a new transaction after this failure; null: the request fails. */
  instead?(failure: unknown): Write | null | Promise<Write | null>;
}

/** The entity view and options for which a schema is created. */
export interface About {
  /** As the caller sees it. */
  readonly entity: Entity;
  readonly method: Method;
}

/** What every action declares. Lists and descriptions of actions are derived from it. */
interface Described<Needs, Input> {
  /** As in the URL. */
  readonly name: string;
  /** Summary in one sentence. */
  readonly summary: string;
  readonly methods: readonly Method[];
  /** The group that includes it. */
  readonly group?: ActionGroup;
  /** Name of another action with which this one is switched on, unless the configuration switches it off. */
  readonly follows?: string;
  readonly requires: readonly Requirement[];
  /** Headers that change what it does. */
  readonly headers?: readonly RequestHeader[];
  /** Events whose handlers run in its transaction. Absent: none. */
  readonly events?: readonly EventName[];
  /** Its own errors, in addition to `errorsOfEveryAction` and those of its headers and handlers. */
  readonly errors: readonly ErrorKind[];
  /** Which rows of an entity with soft delete it uses; absent: as the entity's `visibility` defines. */
  readonly sees?: "active" | "marked";
  /** True: its answers show any of the entity's columns, which other endpoints may then join. Absent: only some. */
  readonly showsColumns?: boolean;
  /** True: a body `{data, options}` is unwrapped. Absent: bodies are taken as they are. */
  readonly takesOptions?: boolean;
  /** True: no body, or `{}`, means all defaults. Absent: it is refused. */
  readonly takesEmptyBody?: boolean;
  /** True: a form-encoded body with bracketed names is accepted too; absent: only JSON. */
  readonly takesForm?: boolean;
  /**
   * True: a member `dry_run` of the body, which the grammar reads, asks for what `Prefer: tx=rollback` asks for. The
   * header counts for every action that writes. Absent: there is no such member.
   */
  readonly takesDryRun?: boolean;
  /** True: the body is multipart and holds one file. Absent: never. */
  readonly takesUpload?: boolean;
  /** Names of texts that such a body also has. Absent: none. */
  readonly uploadFields?: readonly string[];
  /** True: answers csv to clients that prefer it (`Call.wantsCsv`). Absent: only JSON. */
  readonly answersCsv?: boolean;
  /** False: it can never be a step of a batch. Absent: it can, unless it needs more than the database. */
  readonly isStep?: false;
  /** Why a request with this body cannot be a step of a batch, which is all or nothing. Null, or absent: it can. */
  stepFault?(body: Record<string, unknown>): string | null;
  /** True: also reached at `/api/{project}/{action}`, with the endpoint's name as `resource` in the body. */
  readonly isProjectWide?: boolean;
  /** Further members of an error answer of this action; `body` is undefined when it could not be read. */
  besideErrors?(body: unknown): Record<string, unknown>;
  /** True: errors are sent with status 200 and a text in `error`, for clients that show only that. Absent: never. */
  showsErrorsInline?(needs: Needs): boolean;
  /** The parts of an entity without which the action cannot work; null switches it off for that entity. */
  needs(entity: Entity): Needs | null;
  /** Refuses a request whose headers are wrong, before its body is read. Absent: there is nothing to check. */
  checkHeaders?(sent: SentHeaders): void;
  /**
   * What a request may contain: the unwrapped body of a POST, or the parameters of a GET, whose values are strings. A
   * request that matches the grammar's schema is accepted unless it contradicts stored data. Created on demand.
   */
  grammar(needs: Needs, about: About): Grammar<Input>;
  answer(needs: Needs, about: About): AnswerForm;
  /** Why the request changes records, for their history. Absent: requests do not say. */
  reasonOf?(input: Input): string | null;
  /** What it reads, if requests may send `params` for its query. Absent: they may not. */
  sourceOf?(needs: Needs): Source;
}

/** Changes no row. */
export interface ReadingDefinition<Needs, Input> extends Described<Needs, Input> {
  readonly mode: "reads";
  run(call: CallOf<Input>, needs: Needs): Promise<Answer>;
}

/** Starts a job, or reports on one. */
export interface JobDefinition<Needs, Input> extends Described<Needs, Input> {
  readonly mode: "starts a job";
  run(call: CallOf<Input>, needs: Needs): Promise<Answer>;
}

/** Changes rows. */
export interface WritingDefinition<Needs, Input> extends Described<Needs, Input> {
  readonly mode: "writes";
  /**
   * Checks the request and takes its locks before anything is written. Returns the work that then runs in a
   * transaction.
   */
  begin(call: CallOf<Input>, needs: Needs): Write | Promise<Write>;
}

export type ActionDefinition<Needs, Input> =
  | ReadingDefinition<Needs, Input>
  | JobDefinition<Needs, Input>
  | WritingDefinition<Needs, Input>;

/** A call whose input was read. */
export type CallOf<Input> = Call & { readonly input: Input };

/** An action with its type parameter `Needs` hidden. */
export interface Action {
  readonly name: string;
  readonly summary: string;
  readonly mode: Mode;
  readonly methods: readonly Method[];
  readonly group: ActionGroup | null;
  readonly follows: string | null;
  readonly requires: ReadonlySet<Requirement>;
  readonly headers: ReadonlySet<RequestHeader>;
  readonly events: readonly EventName[];
  /** All errors of the action, including those of every action. */
  readonly errors: ReadonlySet<ErrorKind>;
  readonly sees: "active" | "marked" | null;
  readonly showsColumns: boolean;
  readonly takesOptions: boolean;
  readonly takesForm: boolean;
  readonly takesUpload: boolean;
  readonly uploadFields: readonly string[];
  readonly takesDryRun: boolean;
  readonly answersCsv: boolean;
  readonly isProjectWide: boolean;
  /** Whether it can be a step of a batch, because it only uses the database. */
  readonly isStep: boolean;
  stepFault(body: unknown): string | null;
  /** `input`: as the action's grammar read it. */
  reasonOf(input: unknown): string | null;
  /** Refuses wrong headers of a request over HTTP; requests of other protocols have none. */
  checkHeaders(sent: SentHeaders): void;
  /** The schema of a request to this entity; null when the entity lacks what the action needs. */
  input(about: About): JsonSchema | null;
  /** The schema of a successful answer. */
  answer(about: About): AnswerForm | null;
  besideErrors(body: unknown): Record<string, unknown>;
  /** Whether errors of this entity are sent with status 200. */
  showsErrorsInline(entity: Entity): boolean;
  /** The function that answers for this entity, or null when the entity lacks what the action needs. */
  bind(entity: Entity): Bound | null;
}

/** An action of a project, bound to no entity: it is bound where it is defined. */
export const projectAction = (
  given: Pick<Action, "name" | "summary" | "mode" | "methods" | "errors"> & Partial<Action>,
): Action => ({
  group: null,
  follows: null,
  requires: new Set(),
  headers: new Set(),
  events: [],
  sees: null,
  showsColumns: false,
  takesOptions: false,
  takesForm: false,
  takesUpload: false,
  uploadFields: [],
  takesDryRun: false,
  answersCsv: false,
  isProjectWide: true,
  isStep: false,
  stepFault: () => null,
  reasonOf: () => null,
  checkHeaders: () => {},
  input: () => null,
  answer: () => null,
  bind: () => null,
  besideErrors: () => ({}),
  showsErrorsInline: () => false,
  ...given,
});

/** An action bound to one entity. */
export type Bound = BoundPayload & (BoundWork | BoundWrite);

interface BoundPayload {
  /** The body that the action gets, its grammar, and the client's options. Rejects with the action's errors. */
  read(request: { readonly method: Method; readonly body: unknown }): ReadPayload;
}

interface BoundWork {
  readonly mode: "reads" | "starts a job";
  run(call: Call): Promise<Answer>;
}

interface BoundWrite {
  readonly mode: "writes";
  begin(call: Call): Write | Promise<Write>;
}

export function defineAction<Needs, Input = unknown>(
  definition: ActionDefinition<Needs, Input>,
): Action {
  const { name, mode, headers = [], events = [], besideErrors } = definition;
  const paramsOf = (needs: Needs, { params }: Entity) =>
    params && paramsOfSource(params, definition.sourceOf?.(needs));
  const grammarFor = (needs: Needs, about: About): Grammar<Input> =>
    withParams(definition.grammar(needs, about), paramsOf(needs, about.entity));
  const input = (needs: Needs, about: About): JsonSchema => {
    const schema = grammarFor(needs, about).schema();
    return definition.takesEmptyBody ? schema : { ...schema, minProperties: 1 };
  };
  return {
    name,
    summary: definition.summary,
    mode,
    methods: definition.methods,
    group: definition.group ?? null,
    follows: definition.follows ?? null,
    requires: new Set(definition.requires),
    headers: new Set([...headers, ...(mode === "writes" ? (["Prefer"] as const) : [])]),
    events,
    errors: allErrors(definition),
    sees: definition.sees ?? null,
    showsColumns: definition.showsColumns ?? false,
    takesOptions: definition.takesOptions ?? false,
    takesForm: definition.takesForm ?? false,
    takesUpload: definition.takesUpload ?? false,
    uploadFields: definition.uploadFields ?? [],
    takesDryRun: definition.takesDryRun ?? false,
    answersCsv: definition.answersCsv ?? false,
    isProjectWide: definition.isProjectWide ?? false,
    isStep: definition.isStep ?? (mode !== "starts a job" && onlyUsesDatabase(definition.requires)),
    checkHeaders: (sent) => definition.checkHeaders?.(sent),
    stepFault: (body) => (isObject(body) ? (definition.stepFault?.(body) ?? null) : null),
    // The cast is safe: only the grammar makes an input.
    reasonOf: (sent) => definition.reasonOf?.(sent as Input) ?? null,
    input(about) {
      const needs = definition.needs(about.entity);
      return needs === null ? null : input(needs, about);
    },
    answer(about) {
      const needs = definition.needs(about.entity);
      return needs === null ? null : definition.answer(needs, about);
    },
    besideErrors: (body) => besideErrors?.(body) ?? {},
    showsErrorsInline(entity) {
      const needs = definition.needs(entity);
      return needs !== null && (definition.showsErrorsInline?.(needs) ?? false);
    },
    bind(entity) {
      const needs = definition.needs(entity);
      if (needs === null) return null;
      const { takesOptions = false, takesEmptyBody = false } = definition;
      const grammarOf = (method: Method) => grammarFor(needs, { entity, method });
      const read = payloadReader({
        entity,
        takesOptions,
        takesEmptyBody,
        grammarOf,
        params: paramsOf(needs, entity),
      });
      // The cast is safe: only `read` makes the input of a call.
      if (definition.mode === "writes") {
        return {
          mode: "writes",
          read,
          begin: (call) => definition.begin(call as CallOf<Input>, needs),
        };
      }
      return {
        mode: definition.mode,
        read,
        run: (call) => definition.run(call as CallOf<Input>, needs),
      };
    },
  };
}
