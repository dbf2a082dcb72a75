/**
 * The jobs that this process added to BullMQ's queue and that, as far as it knows, still wait: BullMQ can tell the
 * callers of waiting jobs only by reading all of them. Begun jobs are removed when a limit is reached, which bounds
 * the list.
 *
 * Projects, and callers within them, take turns by places that all processes share (BullMQ's priority): the lowest
 * begins next. A caller's first job gets the next place; each further one is as many places later as the project has
 * waiting callers. So a new job overtakes only jobs beyond their caller's share, and every given place is reached.
 */
import { limits } from "../../../core/values/limits.ts";
import type { Job } from "../../../core/jobs/job.ts";
import { shareFault, type Waiting, type WaitingLimits } from "../waiting-share.ts";

/** The queries to the server. */
export interface WaitingJobs {
  /** Whether the job has not begun. */
  isWaiting(id: string): Promise<boolean>;
  /** The place of the job that begins next; null: none is waiting. */
  firstPlace(): Promise<number | null>;
}

export interface OwnWaiting {
  /** Adds the job and returns its place, from 1. Rejects with `tooManyRequests`, or as the server does. */
  take(job: Job, server: WaitingJobs): Promise<number>;
  /** The server has the job. */
  stored(id: string): void;
  /** The job was not added. */
  drop(id: string): void;
}

interface Placed extends Waiting {
  readonly place: number;
  /** On the clock of `performance.now()`; `Infinity` until the server has it. */
  storedAtMs: number;
}

/** The greatest priority of BullMQ. Jobs at this place begin in order of arrival. */
const placeMax = 2 ** 21 - 1;

export function createOwnWaiting(most: WaitingLimits): OwnWaiting {
  const waiting = new Map<string, Placed>();
  /** By project, on the clock of `performance.now()`. */
  const lookedAtMs = new Map<string, number>();

  async function forgetBegun(project: string, { isWaiting }: WaitingJobs): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - (lookedAtMs.get(project) ?? -Infinity) < limits.jobsWaitingLookMs) return;
    lookedAtMs.set(project, nowMs);
    const ids = [...waiting].flatMap(([id, job]) => (job.project === project ? id : []));
    await Promise.all(
      ids.map(async (id) => {
        if (!(await isWaiting(id))) waiting.delete(id);
      }),
    );
  }

  const ofCaller = ({ project, share }: Waiting): [id: string, job: Placed][] =>
    [...waiting].filter(([, other]) => other.project === project && other.share === share);

  /** Removes jobs that have begun, as far as two queries show it. Returns the next place. */
  async function learn(job: Waiting, { firstPlace, isWaiting }: WaitingJobs): Promise<number> {
    const askedAtMs = performance.now();
    const [last] = ofCaller(job).at(-1) ?? [];
    const [first, isLastWaiting] = await Promise.all([
      firstPlace(),
      last === undefined || isWaiting(last),
    ]);
    const begun = new Set(isLastWaiting ? [] : ofCaller(job).map(([id]) => id));
    for (const [id, { place, storedAtMs }] of waiting) {
      const isPassed = first === null || place < first || begun.has(id);
      // Jobs stored after the queries are not in the answers.
      if (isPassed && storedAtMs < askedAtMs) waiting.delete(id);
    }
    return first ?? 1;
  }

  function placeOf(job: Waiting, first: number): number {
    const shares = new Set([job.share]);
    for (const { project, share } of waiting.values())
      if (project === job.project) shares.add(share);
    const before = ofCaller(job).map(([, { place }]) => place + shares.size);
    return Math.min(Math.max(first, ...before), placeMax);
  }

  return {
    async take({ id, project, share }, server) {
      const known = waiting.get(id);
      if (known) return known.place;
      const job = { project, ...(share === undefined ? {} : { share }) };
      if (shareFault(job, waiting.values(), most)) await forgetBegun(project, server);
      const first = await learn(job, server);
      const fault = shareFault(job, waiting.values(), most);
      if (fault) throw fault;
      // No `await` from here on: another job of the caller would get the same place.
      const place = placeOf(job, first);
      waiting.set(id, { ...job, place, storedAtMs: Infinity });
      return place;
    },
    stored(id) {
      const job = waiting.get(id);
      if (job) job.storedAtMs = performance.now();
    },
    drop: (id) => void waiting.delete(id),
  };
}
