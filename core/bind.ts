/**
 * Binds an action to an entity. The result is a function that restricts the request to what the caller may access, runs
 * the action in the transaction that its mode needs, and answers. Actions never open transactions and never check the
 * caller.
 */
import type { Action, Bound, Call, Write } from "./calls/action.ts";
import type { Answer } from "./calls/answer.ts";
import { errorTable } from "./calls/error-table.ts";
import type { Access } from "./callers/access.ts";
import type { Scope } from "./callers/scope.ts";
import { isNamed } from "./records/record.ts";
import { scopedSession } from "./callers/scoped-session.ts";
import { ruledSession } from "./ruled-session.ts";
import { type Entities, scopeWithRelated } from "./callers/related-views.ts";
import type { DbSession, Session, Transaction } from "./query/session.ts";
import type { Entity } from "./plans/entity.ts";
import { AppError, type ErrorKind, invalidPayload, validationFailed } from "./values/errors.ts";
import type { Handler, KeepAnswer, Request } from "./calls/handler.ts";
import { worded } from "./calls/wording.ts";
import { illFormedPlace, isObject } from "./values/json.ts";
import { scopedLocks } from "./locks/scoped-locks.ts";
import type { Scalar } from "./values/scalar.ts";
import { isOfDetails } from "./documents/detail-errors.ts";
import { isOfRecord } from "./records/bulk-outcomes.ts";
import { repeatable, writtenBy } from "./records/idempotency.ts";
import { narrowReplay } from "./records/replay.ts";

/** What the entity belongs to. */
export interface Within {
  readonly access: Access;
  readonly entities: Entities;
}

/** The function that answers requests for the entity; null when the entity lacks what the action needs. */
export function bindAction(action: Action, entity: Entity, within: Within): Handler | null {
  const { access } = within;
  const bound = action.bind(entity);
  if (bound === null) return null;
  const asked = { entity, action: action.name };
  const scopeFor = (
    { caller }: Pick<Request, "caller">,
    params?: ReadonlyMap<string, Scalar>,
  ): Scope => scopeWithRelated(caller, asked, within, params);
  const ruled = (request: Request, input: unknown): DbSession => {
    const { session, feed, caller, taken, requestId, now, newId, digest } = request;
    const reason = action.reasonOf(input);
    const by = { entity, action: action.name, caller, requestId, reason, taken };
    return ruledSession(session, { ...by, now, newId, digest, committed: () => feed.wrote() });
  };
  const handler: Handler = {
    isRead: action.mode === "reads",
    async run(request, keepAnswer) {
      const { body, options, grammar, params } = bound.read(request);
      const scope = scopeFor(request, params);
      try {
        const input = grammar.read(body);
        const session = scopedSession(ruled(request, input), scope);
        const call: Call = {
          ...request,
          entity,
          body,
          input,
          options,
          session,
          fills: scope.fills,
          refusedColumn: scope.refusedColumn,
          lineFills: (table) => scope.lineFills(table),
          reachesAllJobs: access.mayReachAllJobs(request.caller, asked),
          mayAlso: (other) =>
            !entity.enabled.has(other) || access.mayUse(request.caller, { entity, action: other }),
          cache: request.cache.within(scope.key),
          locks: scopedLocks(request.locks, { session, scope, entity }),
        };
        return await drive(bound, { call, session, keepAnswer, errors: action.errors });
      } catch (error) {
        throw withoutUnseen(error, entity, body);
      }
    },
    replay(request, answer) {
      const scope = scopeFor(request);
      return narrowReplay(answer, {
        entity,
        session: scopedSession(request.session, scope),
        scope,
      });
    },
    viewKey: (request) => `${entity.definition}\n${scopeFor(request).key}`,
  };
  if (!action.headers.has("Idempotency-Key")) return worded(handler, entity);
  const { project, name: endpoint } = entity;
  const about = { project, endpoint, action: action.name, writes: writtenBy(entity) };
  return worded(repeatable(handler, about), entity);
}

interface Drive {
  readonly call: Call;
  readonly session: Session;
  readonly keepAnswer: KeepAnswer | null;
  /** The errors of the action. */
  readonly errors: ReadonlySet<ErrorKind>;
}

async function drive(bound: Bound, driving: Drive): Promise<Answer> {
  const { call, session, keepAnswer } = driving;
  if (bound.mode === "writes") return write(await begin(bound, driving), driving);
  const answer = await bound.run(call);
  return keepAnswer ? keepAnswer(session, answer) : answer;
}

/** Rejects as the action does, with Invalid payload for an impossible dry run, and as `illFormed` says. */
async function begin(bound: Bound & { mode: "writes" }, { call, errors }: Drive): Promise<Write> {
  const fault = illFormed(call, errors);
  try {
    const begun = bound.begin(call);
    const work = begun instanceof Promise ? await begun : begun;
    if (call.dryRun) mustUndo(call);
    if (fault === null) return work;
  } catch (error) {
    // What is wrong with the body is told before what the database or a lock says.
    const isOfBody = error instanceof AppError && errorTable[error.kind].status === 400;
    if (fault === null || isOfBody) throw error;
  }
  throw fault;
}

/**
 * The error for strings that are not valid Unicode anywhere in the request: strings that belong to no column (remarks,
 * reasons, unknown members) would reach hooks and handlers unchecked. The action's own faults of the body come first.
 * Validation failed when the string belongs to a field, else Invalid payload; null: there is none.
 */
function illFormed({ body, options, entity }: Call, errors: Drive["errors"]): AppError | null {
  const place = illFormedPlace(body) ?? illFormedPlace(options, "options");
  if (place === null) return null;
  const fault = "must be well formed Unicode";
  const isField =
    errors.has("validationFailed") &&
    Object.hasOwn(body, place) &&
    entity.write?.shown.has(place) === true;
  return isField ? validationFailed({ [place]: [fault] }) : invalidPayload(`${place} ${fault}`);
}

function mustUndo({ entity: { write, insert } }: Call): void {
  if ((write ?? insert)?.table.transactional === false)
    throw invalidPayload(
      "A dry run is not possible: the table's storage cannot roll back a change",
    );
}

async function write(work: Write, driving: Drive): Promise<Answer> {
  const { session, keepAnswer, call } = driving;
  const store = async (tx: Transaction): Promise<Answer> => {
    const answer = await work.run(tx);
    return keepAnswer ? keepAnswer(tx, answer) : answer;
  };
  try {
    return await (work.isOneStatement && !keepAnswer && !call.dryRun
      ? work.run(session)
      : session.tx(store, { isUndone: call.dryRun, isReplaceable: work.instead !== undefined }));
  } catch (error) {
    const other = await work.instead?.(error);
    if (!other) throw error;
    return write(other, driving);
  }
}

/**
 * The error without the names of columns that the caller can neither see nor has sent. A constraint may involve any
 * column.
 */
function withoutUnseen(error: unknown, entity: Entity, body: Record<string, unknown>): unknown {
  const { write: plan, composite } = entity;
  if (!(error instanceof AppError) || error.errors === undefined || plan === null) return error;
  // The operator writes the handlers, so their messages are answered unchanged.
  if (error.kind === "rejectedByHook") return error;
  // The header of a composite is nested in its body. Its details are checked when they are written.
  const header = composite && body[plan.table.name];
  const sent = isObject(header) ? header : body;
  const isKnown = (name: string) =>
    isOfRecord(name) ||
    isNamed(name, sent, plan) ||
    composite?.details.some(({ table }) => isOfDetails(name, table.name));
  const known = Object.entries(error.errors).filter(([name]) => isKnown(name));
  if (known.length === Object.keys(error.errors).length) return error;
  const errors = known.length > 0 ? Object.fromEntries(known) : undefined;
  return new AppError(error.kind, error.message, { ...(errors && { errors }), cause: error });
}
