/**
 * Jobs as the actions of one project use them: start, look up, cancel. A job belongs to its project, endpoint and
 * caller; for everyone else its id is unknown. `job.ts` defines jobs, `jobs/` keeps and runs them.
 */
import { type Caller, identityOf, nobody } from "../plans/caller.ts";
import type { Entity } from "../plans/entity.ts";
import { AppError, notFound } from "../values/errors.ts";
import { hashOf } from "../values/hash.ts";
import { limits } from "../values/limits.ts";
import { isObject, type Json, parseOwnJson } from "../values/json.ts";
import type { Files } from "../plans/files-port.ts";
import type { Job, JobKind } from "./job.ts";
import type { JobProgress, JobRecord, Queue } from "./queue.ts";
import type { Workbooks } from "../plans/workbooks-port.ts";
import type { Runtime } from "../plans/runtime.ts";

/** The owner of a job or an upload. */
export interface Owner {
  readonly endpoint: string;
  readonly caller: Caller;
  /** As `shareOf` names it. */
  readonly share: string;
  /** True: the jobs and uploads of others count as the caller's own. */
  readonly reachesAllJobs: boolean;
}

interface OwnCall {
  readonly entity: Pick<Entity, "name">;
  readonly caller: Caller;
  readonly share: () => string;
  readonly reachesAllJobs: boolean;
}

/** The owner of what a call starts. */
export const ownerOf = ({ entity, caller, share, reachesAllJobs }: OwnCall): Owner => ({
  endpoint: entity.name,
  caller,
  share: share(),
  reachesAllJobs,
});

export interface ProjectJobs {
  readonly files: Files;
  readonly workbooks: Workbooks;
  /** How long files are stored; the records of jobs are stored twice as long. */
  readonly fileTtlSeconds: number;
  /**
   * Starts a job. `id` identifies the job for repeated requests too; absent: a new one. Rejects with `payloadTooLarge`
   * for a request beyond `limits.jobRequestLengthMax`, `tooManyRequests`, and `unavailable`.
   */
  start(
    kind: JobKind,
    owner: Owner,
    job: { request: Job["request"]; id?: string | undefined },
  ): Promise<Job>;
  /** `id` as the client sent it. `kinds`: others count as unknown. Rejects with `notFound` or `unavailable`. */
  find(kinds: readonly JobKind[], owner: Owner, id: string): Promise<JobRecord>;
  /** As `find`. Rejects with `invalidJobState` when the job has ended. */
  cancel(kinds: readonly JobKind[], owner: Owner, id: string): Promise<JobRecord>;
  /** Whether the job's files have expired. */
  hasExpired(job: JobRecord): boolean;
}

export interface ProjectJobsDeps extends Pick<Runtime, "newId"> {
  readonly queue: Queue;
  readonly files: Files;
  readonly workbooks: Workbooks;
}

/** Who started the job. */
export function callerOf({ caller }: Pick<Job, "caller">): Caller {
  if (caller === null) return nobody;
  const { claims } = caller;
  return { ...caller, claims: typeof claims === "string" ? claimsIn(claims) : claims };
}

const claimsIn = (json: string): Caller["claims"] => parseOwnJson(json) as Caller["claims"];

/** The error in the status of a cancelled job. */
export const cancelledError = "The job was cancelled";

/** The status message of a job that failed for an internal reason. */
export const unknownError = "The job could not be finished";

/** The status message of a job whose workers died repeatedly. */
export const abandonedError = "The job was interrupted too often and was given up";

const idShape =
  /^(export|preview|commit)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The kind of the job with this id; null if no job can have such an id. */
export function kindOf(id: unknown): JobKind | null {
  if (typeof id !== "string" || id.length > 64) return null;
  return (idShape.exec(id)?.[1] as JobKind | undefined) ?? null;
}

export function createProjectJobs(
  { name, fileTtlSeconds }: { name: string; fileTtlSeconds: number },
  { queue, files, workbooks, newId }: ProjectJobsDeps,
): ProjectJobs {
  const keptSeconds = fileTtlSeconds * 2;
  const hasEndedFor = (job: JobRecord, seconds: number): boolean =>
    job.finishedAtMs !== null && Date.now() - job.finishedAtMs > seconds * 1_000;

  const jobs: ProjectJobs = {
    files,
    workbooks,
    fileTtlSeconds,
    async start(
      kind,
      { endpoint, caller, share: shareName },
      { request, id = `${kind}-${newId()}` },
    ) {
      if (JSON.stringify(request).length > limits.jobRequestLengthMax)
        throw new AppError("payloadTooLarge", "The request is too large for a background job");
      const kept =
        caller.kind === "nobody" ? null : { ...caller, claims: JSON.stringify(caller.claims) };
      // Not the name itself: it may contain an address, and the job is stored.
      const share = hashOf(shareName);
      const job = { id, kind, project: name, endpoint, caller: kept, share, request, keptSeconds };
      const dated: Job = { ...job, createdAtMs: Date.now() };
      await queue.add(dated);
      return dated;
    },
    async find(kinds, { endpoint, caller, reachesAllJobs }, id) {
      const kind = kindOf(id);
      const job = kind !== null && kinds.includes(kind) ? await queue.find(id) : null;
      const isOwn =
        job !== null &&
        job.project === name &&
        job.endpoint === endpoint &&
        (reachesAllJobs || identityOf(callerOf(job)) === identityOf(caller)) &&
        !hasEndedFor(job, job.keptSeconds);
      if (!isOwn) throw notFound("Unknown job");
      return job;
    },
    async cancel(kinds, owner, id) {
      const job = await jobs.find(kinds, owner, id);
      if (job.state === "completed" || job.state === "failed")
        throw invalidJobState("The job has ended already");
      await queue.cancel(job.id);
      return jobs.find(kinds, owner, id);
    },
    hasExpired: (job) => hasEndedFor(job, job.keptSeconds / 2),
  };
  return jobs;
}

export const invalidJobState = (message: string): AppError =>
  new AppError("invalidJobState", message);

/** The progress as answers show it. */
export const progressOf = ({ processed, total }: JobProgress): Record<string, number> => ({
  processed_rows: processed,
  total_rows: total,
});

/** A member of a job's request or result; null if it is not a text. */
export function textMember(object: Json, name: string): string | null {
  const value = isObject(object) ? object[name] : null;
  return typeof value === "string" ? value : null;
}
