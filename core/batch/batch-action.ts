/** `_batch`: several actions of a project in one request. It belongs to no endpoint; project.json switches it on. */
import { projectAction } from "../calls/action.ts";
import { allErrors } from "../calls/action-errors.ts";
import { errorTable } from "../calls/error-table.ts";
import type { Handler } from "../calls/handler.ts";
import { repeatable } from "../records/idempotency.ts";
import { type AppError, type ErrorKind, notFound } from "../values/errors.ts";
import { type BatchOptions, batchHandler } from "./run-batch.ts";

/** As in the path `/api/{project}/_batch`. */
export const batchName = "_batch";

const headers = ["Idempotency-Key", "Prefer"] as const;

/** Errors that no step has, because it has no file, no job, and no socket. */
const beside: ReadonlySet<ErrorKind> = new Set([
  "invalidFile",
  "invalidJobState",
  "gone",
  "badRequest",
  "expectationFailed",
  "misdirected",
  "headersTooLarge",
  "clientClosed",
  "unauthorized",
]);

export const batch = projectAction({
  name: batchName,
  summary: "Runs several actions, all or nothing, or several reads side by side.",
  mode: "writes",
  methods: ["POST"],
  headers: new Set(headers),
  errors: allErrors({
    mode: "writes",
    headers,
    // Those of all steps.
    errors: (Object.keys(errorTable) as ErrorKind[]).filter((kind) => !beside.has(kind)),
  }),
  takesDryRun: true,
});

/** `project`: its name. */
export const bindBatch = (project: string, options: BatchOptions): Handler =>
  repeatable(batchHandler(options), {
    project,
    endpoint: "",
    action: batchName,
    writes: new Set(["unknown"] as const),
  });

export const batchesAreOff = (): AppError =>
  notFound(
    'Batches are switched off; the operator switches them on with {"batch": {"enabled": true}} in project.json',
  );
