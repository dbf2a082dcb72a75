/** What a job gets beside its run: its project with databases and cache, its entity, and the files. */
import type { ProjectCache } from "../../core/cache/cache.ts";
import type { Access } from "../../core/callers/access.ts";
import type { Scope } from "../../core/callers/scope.ts";
import type { Caller } from "../../core/plans/caller.ts";
import type { Session } from "../../core/callers/session.ts";
import type { Entity } from "../../core/plans/entity.ts";
import type { Db, Files, Log } from "../../core/plans/ports.ts";
import type { Clock, NewId } from "../../core/values/clock.ts";

/** One project, as jobs see it. */
export interface JobProject {
  readonly name: string;
  /** Connections apart from those of requests, with the time-out of jobs. */
  readonly db: Db;
  /** To be told what a job wrote, after its commit. */
  readonly cache: ProjectCache;
  /**
   * Null where the configuration has no such endpoint. Rejects with `unavailable` while the database is unreachable.
   */
  entity(endpoint: string): Promise<Entity | null>;
  /** What callers may do. Rejects as `entity` does. */
  access(): Promise<Access>;
  /** Rows that a job handles at once. */
  readonly batchRows: number;
}

/** All that jobs need of the process they run in. */
export interface JobWorld {
  readonly projects: ReadonlyMap<string, JobProject>;
  readonly files: Files;
  readonly now: Clock;
  readonly newId: NewId;
  readonly log: Log;
}

/** What the function of a kind gets beside its run. */
export interface JobContext extends Omit<JobWorld, "projects"> {
  readonly project: JobProject;
  /** Who started the job. */
  readonly caller: Caller;
  /** Of the caller, as its session has it. */
  readonly scope: Scope;
  /** With the columns that the caller may see and write. */
  readonly entity: Entity;
  /** Rows within the caller's scope, without a deadline. */
  readonly session: Session;
}
