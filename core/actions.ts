/** Every action, listed by hand: a new one is a line here, a file in `actions/`, its tests and its page in `docs/actions/`. */
import type { Action } from "./action.ts";
import { adjust } from "./actions/adjust.ts";
import { aggregate } from "./actions/aggregate.ts";
import { changeStatus } from "./actions/change-status.ts";
import { createComposite } from "./actions/create-composite.ts";
import { create } from "./actions/create.ts";
import { datatables } from "./actions/datatables.ts";
import { deleteRecords } from "./actions/delete.ts";
import { startExport } from "./actions/export.ts";
import { exportCancel } from "./actions/export-cancel.ts";
import { exportDownload } from "./actions/export-download.ts";
import { exportStatus } from "./actions/export-status.ts";
import { first } from "./actions/first.ts";
import { lockAcquire } from "./actions/lock-acquire.ts";
import { lockRelease } from "./actions/lock-release.ts";
import { lockStatus } from "./actions/lock-status.ts";
import { importCancel } from "./actions/import-cancel.ts";
import { importCommit } from "./actions/import-commit.ts";
import { importErrors } from "./actions/import-errors.ts";
import { importPreview } from "./actions/import-preview.ts";
import { importStatus } from "./actions/import-status.ts";
import { importTemplate } from "./actions/import-template.ts";
import { importUpload } from "./actions/import-upload.ts";
import { lookup } from "./actions/lookup.ts";
import { nextStatuses } from "./actions/next-statuses.ts";
import { readComposite } from "./actions/read-composite.ts";
import { read } from "./actions/read.ts";
import { updateComposite } from "./actions/update-composite.ts";
import { update } from "./actions/update.ts";

export const actions: readonly Action[] = [
  create,
  read,
  first,
  update,
  deleteRecords,
  adjust,
  lookup,
  aggregate,
  datatables,
  lockAcquire,
  lockRelease,
  lockStatus,
  createComposite,
  readComposite,
  updateComposite,
  changeStatus,
  nextStatuses,
  startExport,
  exportStatus,
  exportDownload,
  exportCancel,
  importTemplate,
  importUpload,
  importPreview,
  importStatus,
  importErrors,
  importCommit,
  importCancel,
];

export const actionNames: ReadonlySet<string> = new Set(actions.map(({ name }) => name));

/** Named by the catalog as planned: switched on by no configuration, and answered with a sentence of their own. */
export const plannedActions: ReadonlySet<string> = new Set([
  "bulk-create",
  "bulk-update",
  "bulk-delete",
  "validate",
  "check-duplicate",
  "check-availability",
  "attach",
  "detach",
  "sync",
  "clone",
  "history",
  "print",
]);
