/**
 * START HERE. Runs one job from any queue and process: finds its project and entity, and calls the function of its
 * kind.
 */
import { createViews } from "../core/callers/entity-views.ts";
import { scopedSession } from "../core/callers/scoped-session.ts";
import { scopeWithRelated } from "../core/callers/related-views.ts";
import { TakenClaims } from "../core/files/claiming-session.ts";
import { ruledSession } from "../core/ruled-session.ts";
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
    const language = textMember(run.job.request, "language");
    const ruled = ruledSession(db.session(Infinity, { caller, signal: run.signal }), {
      ...rest,
      ...asked,
      caller,
      requestId: run.job.id,
      reason: null,
      // Imports take no claims.
      taken: new TakenClaims(),
      // The processes that serve look every second.
      committed: () => undefined,
    });
    return doJob(run, {
      ...rest,
      project,
      caller,
      entity: view,
      language,
      words: wordingIn(language, view),
      scope,
      session: scopedSession(ruled, scope),
    });
  };
}
