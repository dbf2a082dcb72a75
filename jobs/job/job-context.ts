/** What a job gets beside its run: its project with databases and cache, its entity, and the files. */
import type { ProjectCache } from "../../core/cache/cache.ts";
import type { Access } from "../../core/callers/access.ts";
import type { Scope } from "../../core/callers/scope.ts";
import type { ProjectLocks } from "../../core/locks/locks.ts";
import type { Caller } from "../../core/plans/caller.ts";
import type { Session } from "../../core/query/session.ts";
import type { FieldWording } from "../../core/calls/wording.ts";
import type { Entity } from "../../core/plans/entity.ts";
import type { Db } from "../../core/plans/db-port.ts";
import type { Files } from "../../core/plans/files-port.ts";
import type { Runtime } from "../../core/plans/runtime.ts";

/** One project, as jobs see it. */
export interface JobProject {
  readonly name: string;
  /** Connections apart from those of requests, with the time-out of jobs. */
  readonly db: Db;
  /** Receives the tables that a job wrote, after its commit. */
  readonly cache: ProjectCache;
  /** All endpoints of the configuration. Rejects with `unavailable` while the database is unreachable. */
  entities(): Promise<ReadonlyMap<string, Entity>>;
  /** The rights of callers. Rejects as `entities` does. */
  access(): Promise<Access>;
  /** The locks that clients hold; null: writes look at none. */
  readonly locks: ProjectLocks | null;
  /** Rows that a job handles at once. */
  readonly batchRows: number;
}

/** All that jobs need of the process they run in. */
export interface JobWorld extends Pick<Runtime, "now" | "newId" | "digest" | "log"> {
  readonly projects: ReadonlyMap<string, JobProject>;
  readonly files: Files;
}

/** What the function of a kind gets beside its run. */
export interface JobContext extends Omit<JobWorld, "projects"> {
  readonly project: JobProject;
  /** Of the request that started the job; null: there is only one. */
  readonly language: string | null;
  /** Messages about fields in that language. */
  readonly words: FieldWording;
  /** Who started the job. */
  readonly caller: Caller;
  /** Of the caller, as its session has it. */
  readonly scope: Scope;
  /** With the columns that the caller can see and write. */
  readonly entity: Entity;
  /** Rows within the caller's scope, without a deadline. */
  readonly session: Session;
}
