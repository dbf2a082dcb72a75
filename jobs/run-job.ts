/**
 * START HERE. Does one job, whatever queue and process it comes from: finds the project and the entity that it is about, and hands it to
 * the function of its kind. Called by `thread.ts`.
 */
import { notFound } from "../core/errors.ts";
import type { JobKind, Json, Run, RunJob } from "../core/ports.ts";
import { exportRows } from "./export.ts";
import { commitImport } from "./import/commit.ts";
import { previewImport } from "./import/preview.ts";
import type { JobContext, JobWorld } from "./job-world.ts";

type DoJob = (run: Run, context: JobContext) => Promise<Json>;

const kinds: Readonly<Record<JobKind, DoJob>> = {
  export: exportRows,
  preview: previewImport,
  commit: commitImport,
};

export function createRunner({ projects, ...rest }: JobWorld): RunJob {
  return async (run) => {
    const { kind, project: name, endpoint } = run.job;
    const project = projects.get(name);
    const entity = await project?.entity(endpoint);
    const doJob = kinds[kind];
    // The configuration may have changed since the job was accepted.
    if (!project || !entity) throw notFound("What the job is about is no longer there");
    run.signal.throwIfAborted();
    return doJob(run, { ...rest, project, entity });
  };
}
