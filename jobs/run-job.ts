/**
 * START HERE. Does one job, whatever queue and process it comes from: finds the project and the entity that it is about, and hands it to
 * the function of its kind.
 */
import { createViews } from "../core/callers/entity-views.ts";
import { scopedSession } from "../core/callers/scoped-session.ts";
import { withVisibility } from "../core/callers/visibility.ts";
import { notFound } from "../core/values/errors.ts";
import { callerOf } from "../core/jobs/jobs.ts";
import type { Json } from "../core/values/json.ts";
import type { JobKind, Run, RunJob } from "../core/plans/ports.ts";
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

/** Rejects with `notFound` when the configuration does not have what the job is about any more. */
export function createRunner({ projects, ...rest }: JobWorld): RunJob {
  return async (run) => {
    const { kind, project: name, endpoint } = run.job;
    const project = projects.get(name);
    const entity = await project?.entity(endpoint);
    // The configuration may have changed since the job was accepted.
    if (!project || !entity) throw notFound(noLongerThere);
    run.signal.throwIfAborted();
    const { action, run: doJob } = kinds[kind];
    const caller = callerOf(run.job);
    const { db } = project;
    const access = await project.access();
    if (!access.mayUse(caller, { entity, action })) throw notFound(noLongerThere);
    const rights = access.fieldsOf(caller, { entity, action });
    const scope = withVisibility(access.scopeOf(caller, { entity, action }), entity, action);
    return doJob(run, {
      ...rest,
      project,
      caller,
      entity: createViews(entity).viewFor(rights),
      scope,
      session: scopedSession(db.session(Infinity, caller), scope),
    });
  };
}
