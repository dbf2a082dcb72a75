/**
 * START HERE. Runs one job from any queue and process: finds its project and entity, and calls the function of its
 * kind.
 */
import { createViews } from "../core/callers/entity-views.ts";
import { scopedSession } from "../core/callers/scoped-session.ts";
import { scopeWithRelated } from "../core/callers/related-views.ts";
import { stampOf } from "../core/records/record.ts";
import { claimingSession, TakenClaims } from "../core/files/claiming-session.ts";
import { numberingSession } from "../core/numbers/numbering-session.ts";
import { recordingSession } from "../core/changes/recording-session.ts";
import { keptSession } from "../core/totals/kept-session.ts";
import { statusSession } from "../core/workflow/status-session.ts";
import { notFound } from "../core/values/errors.ts";
import { paramsOfSource } from "../core/calls/params.ts";
import type { Entity } from "../core/plans/entity.ts";
import type { Scalar } from "../core/values/scalar.ts";
import { wordingIn } from "../core/calls/wording.ts";
import { callerOf, textMember } from "../core/jobs/jobs.ts";
import type { Json } from "../core/values/json.ts";
import type { JobKind, Run, RunJob } from "../core/jobs/job.ts";
import { exportRows } from "./export/export-rows.ts";
import { commitImport } from "./import/commit.ts";
import { previewImport } from "./import/preview.ts";
import type { JobContext, JobWorld } from "./job/job-context.ts";

interface Kind {
  /** The action that starts such a job: the caller's rights for it are those of the job. */
  readonly action: string;
  run(run: Run, context: JobContext): Promise<Json>;
}

const kinds: Readonly<Record<JobKind, Kind>> = {
  export: { action: "export", run: exportRows },
  preview: { action: "import-preview", run: previewImport },
  commit: { action: "import-commit", run: commitImport },
};

const noLongerThere = "What the job is about is no longer there";

/** What an export was asked for. Rejects with Validation failed if the configuration no longer takes it. */
function paramsOf(
  { kind, request }: Run["job"],
  { export: exported, params }: Entity,
): ReadonlyMap<string, Scalar> | undefined {
  if (kind !== "export" || params === null || exported === null) return undefined;
  return paramsOfSource(params, exported.source)?.read(request["params"]);
}

/** Rejects with `notFound` when the configuration no longer has the job's project, entity or action. */
export function createRunner({ projects, ...rest }: JobWorld): RunJob {
  return async (run) => {
    const { kind, project: name, endpoint } = run.job;
    const project = projects.get(name);
    const entities = await project?.entities();
    const entity = entities?.get(endpoint);
    // The configuration can have changed since the job was accepted.
    if (!project || !entities || !entity) throw notFound(noLongerThere);
    run.signal.throwIfAborted();
    const { action, run: doJob } = kinds[kind];
    const caller = callerOf(run.job);
    const { db } = project;
    const access = await project.access();
    const asked = { entity, action };
    if (!access.mayUse(caller, asked)) throw notFound(noLongerThere);
    const rights = access.fieldsOf(caller, asked);
    const scope = scopeWithRelated(caller, asked, { access, entities }, paramsOf(run.job, entity));
    const view = createViews(entity, entities).viewFor(rights);
    const { now, newId, digest } = rest;
    const language = textMember(run.job.request, "language");
    const recorded = recordingSession(db.session(Infinity, { caller, signal: run.signal }), {
      tables: entity.changes,
      // The processes that serve look every second.
      committed: () => undefined,
      author: { endpoint, action, by: caller.id, requestId: run.job.id, reason: null, now, newId },
    });
    const { files } = entity;
    // Imports take no claims.
    const taken = new TakenClaims();
    const claimed = claimingSession(recorded, {
      tables: files,
      caller,
      action,
      now,
      digest,
      taken,
    });
    const numbered = numberingSession(claimed, {
      tables: entity.numbers,
      time: { now: now(), timeZone: entity.settings.timeZone },
      digest,
      caller,
      action,
    });
    const guarded = statusSession(numbered, { entity, action });
    const kept = keptSession(guarded, {
      tables: entity.documents,
      stamp: stampOf({ caller, now }),
    });
    return doJob(run, {
      ...rest,
      project,
      caller,
      entity: view,
      language,
      words: wordingIn(language, view),
      scope,
      session: scopedSession(kept, scope),
    });
  };
}
