/**
 * The list of all actions. A new action needs a line here, a file in `actions/`, tests, and a page in `docs/actions/`.
 */
import type { Action } from "./calls/action.ts";
import { adjust } from "./actions/adjust.ts";
import { aggregate } from "./actions/aggregate.ts";
import { bulkCreate } from "./actions/bulk-create.ts";
import { bulkDelete } from "./actions/bulk-delete.ts";
import { bulkUpdate } from "./actions/bulk-update.ts";
import { call } from "./actions/call.ts";
import { changeStatus } from "./actions/change-status.ts";
import { createComposite } from "./actions/create-composite.ts";
import { create } from "./actions/create.ts";
import { datatables } from "./actions/datatables.ts";
import { deleteRecords } from "./actions/delete.ts";
import { startExport } from "./actions/export.ts";
import { exportCancel } from "./actions/export-cancel.ts";
import { exportDownload } from "./actions/export-download.ts";
import { fileDownload } from "./actions/file-download.ts";
import { fileUpload } from "./actions/file-upload.ts";
import { exportStatus } from "./actions/export-status.ts";
import { first } from "./actions/first.ts";
import { history } from "./actions/history.ts";
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
import { nextNumber } from "./actions/next-number.ts";
import { nextStatuses } from "./actions/next-statuses.ts";
import { readComposite } from "./actions/read-composite.ts";
import { read } from "./actions/read.ts";
import { restore } from "./actions/restore.ts";
import { revert } from "./actions/revert.ts";
import { upsert } from "./actions/upsert.ts";
import { updateComposite } from "./actions/update-composite.ts";
import { update } from "./actions/update.ts";

export const actions: readonly Action[] = [
  create,
  read,
  first,
  update,
  deleteRecords,
  restore,
  adjust,
  bulkCreate,
  bulkUpdate,
  bulkDelete,
  upsert,
  datatables,
  lookup,
  aggregate,
  createComposite,
  readComposite,
  updateComposite,
  changeStatus,
  nextStatuses,
  nextNumber,
  history,
  revert,
  fileUpload,
  fileDownload,
  call,
  startExport,
  exportStatus,
  exportDownload,
  exportCancel,
  importUpload,
  importPreview,
  importCommit,
  importStatus,
  importTemplate,
  importErrors,
  importCancel,
  lockAcquire,
  lockRelease,
  lockStatus,
];

export const actionNames: readonly string[] = actions.map(({ name }) => name);

/** The names of all actions that belong to a group. */
export const actionGroups: ReadonlyMap<string, readonly string[]> = new Map(
  [...Map.groupBy(actions, ({ group }) => group)].flatMap(([group, members]) =>
    group === null ? [] : [[group, members.map(({ name }) => name)] as const],
  ),
);

/** An endpoint's switches: `{"read": true}`. */
type Switches = Readonly<Record<string, boolean | undefined>>;

/** Names of the actions that are switched on and accepted by `isMeant`. */
export const switchedOn = (
  switches: Switches,
  isMeant: (action: Action) => boolean = () => true,
): string[] =>
  actions.filter((action) => isOn(action, switches) && isMeant(action)).map(({ name }) => name);

function isOn({ name, follows }: Action, switches: Switches): boolean {
  const own = switches[name];
  return own === true || (own === undefined && follows !== null && switches[follows] === true);
}

/** A name that the service reserves: a configuration that switches it on is refused, with what to use instead. */
export interface PlannedAction {
  readonly name: string;
  /** What to use instead, phrased as the end of a sentence. */
  readonly reason: string;
}

const planned: readonly PlannedAction[] = [
  {
    name: "validate",
    reason: "create and update with Prefer: tx=rollback say what would be answered",
  },
  { name: "check-duplicate", reason: "create answers 409 for a duplicate, and first finds it" },
  { name: "check-availability", reason: "first tells whether a value is taken" },
  { name: "attach", reason: "create stores the record that links two others" },
  { name: "detach", reason: "delete removes the record that links two others" },
  { name: "sync", reason: "update-composite changes a whole list of details" },
  { name: "clone", reason: "first and create copy a record" },
  { name: "print", reason: "an export writes the records into a file" },
];

/** By name. */
export const plannedActions: ReadonlyMap<string, PlannedAction> = new Map(
  planned.map((action) => [action.name, action]),
);
