/**
 * Runs the steps of a batch: one after the other in one transaction, or independent reads side by side. Each step is
 * the request that it would be by itself, with a session, a cache and locks that belong to the batch.
 */
import { scopedSession } from "../callers/scoped-session.ts";
import { wholeScope } from "../callers/scope.ts";
import type { Action } from "../calls/action.ts";
import type { Answer, AnsweredStep } from "../calls/answer.ts";
import { answerText, asAppError, errorBody } from "../calls/answer-text.ts";
import { errorTable } from "../calls/error-table.ts";
import type { Handler, KeepAnswer, Request } from "../calls/handler.ts";
import type { ProjectCache } from "../cache/cache.ts";
import { lockTokensIn } from "../locks/lock-keys.ts";
import { formsIn } from "../locks/lock-names.ts";
import { isInUse } from "../locks/lock-conflict.ts";
import type { Feed } from "../changes/feed.ts";
import type { Caller } from "../plans/caller.ts";
import type { Entity } from "../plans/entity.ts";
import type { HookCall } from "../plans/hook-call.ts";
import type { Outbound } from "../plans/outbound-port.ts";
import type { LedgerName } from "../query/session.ts";
import { type AppError, invalidPayload, unavailable } from "../values/errors.ts";
import { parseOwnJson } from "../values/json.ts";
import { asString, jsonOf } from "../values/ready-json.ts";
import { limits } from "../values/limits.ts";
import { inStep, readBatch, type Step } from "./batch-request.ts";
import { neededLedgers, makeLedgers } from "./step-ledgers.ts";
import { checkReferences, resolve } from "./step-references.ts";

/** What a step leads to. */
export interface StepRoute {
  readonly action: Action;
  /** Null: its body names the endpoint, so it is no step. */
  readonly entity: Entity | null;
  handlerFor(caller: Caller): Handler;
}

export interface BatchOptions {
  readonly stepsMax: number;
  /** Rejects as a request with this path does. */
  routeOf(step: Step, caller: Caller): StepRoute;
}

/** A step that may run. */
interface Planned {
  readonly step: Step;
  readonly action: Action;
  readonly handler: Handler;
  /** The service's own tables that it can need. */
  readonly ledgers: readonly LedgerName[];
}

/** An independent step that is refused by itself, as its request would be. */
interface Refused {
  readonly step: Step;
  readonly refusal: AppError;
}

/** What a step answered. */
interface Answered extends Pick<AnsweredStep, "subject" | "subjects"> {
  readonly id: string | null;
  /** Null: it failed. */
  readonly handler: Handler | null;
  readonly status: number;
  /** JSON of the whole answer. */
  readonly text: string;
}

export function batchHandler(options: BatchOptions): Handler {
  return {
    async run(request, keepAnswer) {
      const { steps, isIndependent } = readBatch(request.body, options);
      const planning = { request, options, isIndependent };
      if (isIndependent) return runIndependent(steps, planning, keepAnswer);
      const planned = steps.map((step) => plan(step, planning));
      const marked = checkReferences(steps);
      for (const [index, refusal] of await request.countSteps(steps))
        throw inStep(steps[index]!, refusal);
      return runTogether(request, { planned, marked, keepAnswer });
    },
    async replay(request, answer) {
      const { steps, isIndependent } = readBatch(request.body, options);
      const planning = { request, options, isIndependent };
      const planned = steps.map((step) => (isIndependent ? planAlone : plan)(step, planning));
      return { ...answer, rest: await narrowed(answer, { planned, request }) };
    },
    // A batch has no rows and columns of its own.
    viewKey: () => "",
  };
}

interface Planning {
  readonly request: Request;
  readonly options: BatchOptions;
  readonly isIndependent: boolean;
}

/** Rejects, in the step, if the caller may not use the action, or the action cannot be a step. */
function plan(step: Step, planning: Planning): Planned {
  try {
    return checked(step, found(step, planning), planning);
  } catch (error) {
    throw inStep(step, error);
  }
}

/** Rejects, in the step, if the action cannot be an independent step. */
function planAlone(step: Step, planning: Planning): Planned | Refused {
  let one: Found;
  try {
    one = found(step, planning);
  } catch (error) {
    return { step, refusal: asAppError(error) };
  }
  try {
    return checked(step, one, planning);
  } catch (error) {
    throw inStep(step, error);
  }
}

type Found = Omit<StepRoute, "handlerFor"> & Pick<Planned, "handler">;

/** Rejects as the request that the step would be by itself. */
function found(step: Step, { request: { caller }, options }: Planning): Found {
  const route = options.routeOf(step, caller);
  return { ...route, handler: route.handlerFor(caller) };
}

function checked(
  step: Step,
  { action, entity, handler }: Found,
  { isIndependent }: Planning,
): Planned {
  if (!action.isStep) throw invalidPayload(`${action.name} cannot be a step of a batch`);
  const writes = action.mode === "writes";
  if (isIndependent && writes)
    throw invalidPayload(`${action.name} writes, so it cannot be independent of other steps`);
  if (writes && (entity?.write ?? entity?.insert)?.table.transactional === false)
    throw invalidPayload("The table's storage cannot roll back a change: it takes no batch");
  for (const [member, name, header] of headerMembers)
    if (step[member] !== null && !action.headers.has(header))
      throw invalidPayload(`${action.name} does not take ${name}`);
  return { step, action, handler, ledgers: entity === null ? [] : neededLedgers(entity) };
}

const headerMembers = [
  ["ifMatch", "if_match", "If-Match"],
  ["lockToken", "lock_token", "X-Lock-Token"],
] as const;

interface Together {
  readonly planned: readonly Planned[];
  /** The indexes of steps with references. */
  readonly marked: ReadonlySet<number>;
  readonly keepAnswer: KeepAnswer | null;
}

/**
 * All steps in one transaction. It begins again after a deadlock, and when a record is locked by another request, which
 * may itself wait for rows that the batch has locked.
 */
async function runTogether(request: Request, together: Together): Promise<Answer> {
  const { planned, keepAnswer } = together;
  const isReadOnly = keepAnswer === null && planned.every(({ action }) => action.mode === "reads");
  const { outbound, begin } = callingOnce(request.outbound);
  await makeLedgers(request, planned);
  let isTold = false;
  // What a step has changed is committed with all others.
  const feed: Feed = { ...request.feed, wrote: () => (isTold = true) };
  for (;;) {
    try {
      isTold = false;
      const answer = await request.session.join(
        (session) => {
          begin();
          request.taken.forget();
          const within = { session, outbound, background: null, feed, cache: noCache };
          return runSteps({ ...request, ...within }, together);
        },
        { isReadOnly, isUndone: request.dryRun },
      );
      if (isTold && !request.dryRun) request.feed.wrote();
      return answer;
    } catch (error) {
      const delayMs = limits.batchPauseMs * (0.5 + Math.random());
      const isLate = performance.now() + delayMs > request.deadlineAtMs - limits.lockReserveMs;
      if (!isInUse(error) || isLate) throw error;
      await request.locks.close();
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
  }
}

async function runSteps(
  request: Request,
  { planned, marked, keepAnswer }: Together,
): Promise<Answer> {
  const answered: Answered[] = [];
  const earlier = new Map<string, number>();
  const later: HookCall[] = [];
  const bodies = new Map<number, unknown>();
  function bodyOf(index: number): unknown {
    if (!bodies.has(index)) bodies.set(index, parseOwnJson(answered[index]!.text));
    return bodies.get(index);
  }
  for (const one of planned) {
    const { step, action, handler } = one;
    try {
      const body = marked.has(step.index) ? resolve(step.body, { earlier, bodyOf }) : step.body;
      const fault = action.stepFault(body);
      if (fault !== null) throw invalidPayload(fault);
      const answer = await runStep(handler, asRequest(request, { step, body }), step);
      later.push(...(answer.later ?? []));
      answered.push(answeredBy(one, request, answer));
    } catch (error) {
      throw inStep(step, error);
    }
    if (step.id !== null) earlier.set(step.id, step.index);
  }
  return { ...(await answerOf(answered, request, keepAnswer)), later };
}

async function runStep(
  handler: Handler,
  request: Request,
  { endpoint, action }: Step,
): Promise<Answer> {
  const startedMs = performance.now();
  const ended = (status: number): void =>
    request.onStep?.({ endpoint, action }, { status, durationMs: performance.now() - startedMs });
  try {
    const answer = await handler.run(request, null);
    ended(answer.status);
    return answer;
  } catch (error) {
    ended(errorTable[asAppError(error).kind].status);
    throw error;
  }
}

/** The request that the step would be by itself. */
const asRequest = (request: Request, { step, body }: { step: Step; body: unknown }): Request => ({
  ...request,
  body,
  ifMatch: step.ifMatch,
  lockToken: step.lockToken,
  locks: request.locks.within(
    lockTokensIn(step.lockToken),
    formsIn(scopedSession(request.session, wholeScope)),
  ),
  idempotencyKey: null,
});

function answeredBy({ step, handler }: Planned, request: Request, answer: Answer): Answered {
  const { status, subject, subjects } = answer;
  return {
    id: step.id,
    status,
    text: asString(answerText(answer, request.now())),
    handler,
    ...(subject !== undefined && { subject }),
    ...(subjects !== undefined && { subjects }),
  };
}

/** All steps side by side. */
async function runIndependent(
  steps: readonly Step[],
  planning: Planning,
  keepAnswer: KeepAnswer | null,
): Promise<Answer> {
  const { request } = planning;
  const planned = steps.map((step) => planAlone(step, planning));
  const marked = checkReferences(steps);
  for (const step of steps)
    if (marked.has(step.index))
      throw inStep(step, invalidPayload("an independent step cannot refer to another one"));
  const tooMany = await request.countSteps(steps);
  const answered = await Promise.all(
    planned.map((one, index) => {
      // A request is counted before its action is looked up.
      const refusal = tooMany.get(index);
      return runAlone(refusal === undefined ? one : { step: one.step, refusal }, request);
    }),
  );
  return answerOf(answered, request, keepAnswer);
}

/** An independent step, whose failure is its answer. */
async function runAlone(one: Planned | Refused, request: Request): Promise<Answered> {
  const { step } = one;
  if ("refusal" in one) return failed(one, request);
  try {
    const body = asRequest(request, { step, body: step.body });
    return answeredBy(one, request, await runStep(one.handler, body, step));
  } catch (error) {
    return failed({ step, refusal: asAppError(error) }, request);
  }
}

function failed({ step: { id, index }, refusal }: Refused, request: Request): Answered {
  const { status } = errorTable[refusal.kind];
  if (status >= 500)
    request.log.error({ err: refusal.cause ?? refusal, status, step: index }, refusal.message);
  const body = { success: false, ...errorBody(refusal), timestamp: request.now() };
  return { id, status, text: JSON.stringify(body), handler: null };
}

async function answerOf(
  answered: readonly Answered[],
  request: Request,
  keepAnswer: KeepAnswer | null,
): Promise<Answer> {
  const data = answered
    .map(({ id, status, text }) => `{"id":${JSON.stringify(id)},"status":${status},"body":${text}}`)
    .join(",");
  const answer: Answer = { status: 200, body: {}, rest: `{"data":[${data}]}` };
  if (keepAnswer === null) return answer;
  const steps = answered.map(({ handler, subject, subjects }) => ({
    view: handler && viewOf(handler, request),
    ...(subject !== undefined && { subject }),
    ...(subjects !== undefined && { subjects }),
  }));
  return keepAnswer(scopedSession(request.session, wholeScope), { ...answer, steps });
}

const viewOf = (handler: Handler, request: Request): string =>
  request.digest(handler.viewKey(request)).slice(0, 32);

interface Replaying {
  readonly planned: readonly (Planned | Refused)[];
  readonly request: Request;
}

/** The stored answer without what the caller may not see any more. */
async function narrowed(
  { rest = "", steps = [] }: Answer,
  { planned, request }: Replaying,
): Promise<string> {
  const stored = parseOwnJson(asString(rest)) as unknown as {
    data: { status: 200; body: object }[];
  };
  const data: unknown[] = [];
  for (const [at, { view, subject, subjects }] of steps.entries()) {
    const step = planned[at]!;
    const one = stored.data[at]!;
    if (view === null) {
      data.push(one);
      continue;
    }
    if ("refusal" in step) {
      const { id, status, text } = failed(step, request);
      data.push({ id, status, body: parseOwnJson(text) });
      continue;
    }
    const { handler } = step;
    if (subject !== undefined || subjects !== undefined) {
      const about = { ...(subject && { subject }), ...(subjects && { subjects }) };
      const answer = { status: one.status, body: { ...one.body }, ...about };
      data.push({ ...one, body: (await handler.replay(request, answer)).body });
    } else if (view === viewOf(handler, request)) data.push(one);
    else data.push({ ...one, body: { ...one.body, data: null } });
  }
  return JSON.stringify({ data });
}

/** Reads nothing that was stored before the batch, and stores nothing that is not committed. */
const noCache: ProjectCache = {
  within: () => noCache,
  keeping: () => async (_parameters, make) => jsonOf(await make()),
  wrote: async () => undefined,
  acknowledged: async () => null,
};

/** A transaction may run again, but a service must not be called twice. `begin`: at the start of each run. */
function callingOnce(outbound: Outbound): { readonly outbound: Outbound; begin(): void } {
  let hasCalled = false;
  return {
    outbound: {
      send(request, signal) {
        hasCalled = true;
        return outbound.send(request, signal);
      },
    },
    begin() {
      if (hasCalled)
        throw unavailable(
          "The database rolled the batch back after hooks had been called; check the records before you try again",
        );
    },
  };
}
