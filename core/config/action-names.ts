/**
 * The catalog's actions as a configuration names them, with what each needs from its entity. Which of them are built is
 * not said here: `compileProject` gets that as a parameter.
 */

export const catalogActions = [
  "create",
  "read",
  "first",
  "update",
  "delete",
  "adjust",
  "datatables",
  "lookup",
  "aggregate",
  "create-composite",
  "read-composite",
  "update-composite",
  "change-status",
  "next-statuses",
  "export",
  "export-status",
  "export-download",
  "export-cancel",
  "import-upload",
  "import-preview",
  "import-commit",
  "import-status",
  "import-template",
  "import-errors",
  "import-cancel",
  "lock/acquire",
  "lock/release",
  "lock/status",
] as const;

export type ActionName = (typeof catalogActions)[number];

/** They change rows, so they need a table and one column that is its key. */
export const writingActions: readonly ActionName[] = [
  "create",
  "update",
  "delete",
  "adjust",
  "create-composite",
  "update-composite",
  "change-status",
  "import-commit",
];

/** They read rows from the view, query or table of the entity, or lock them. */
export const readingActions: readonly ActionName[] = [
  "read",
  "first",
  "lookup",
  "aggregate",
  "export",
  "read-composite",
  "lock/acquire",
  "lock/release",
  "lock/status",
];

export const compositeActions: readonly ActionName[] = [
  "create-composite",
  "read-composite",
  "update-composite",
];

/** They work with the status of one record, so they too need a table and its key. */
export const workflowActions: readonly ActionName[] = ["change-status", "next-statuses"];

/** One call of these changes several rows, and must be able to undo all of them. */
export const multiRowActions: readonly ActionName[] = [
  "create-composite",
  "update-composite",
  "import-commit",
];

/** A name that stands for several actions. */
export const actionGroups: ReadonlyMap<string, readonly ActionName[]> = new Map([
  ["workflow", ["change-status"]],
  ["export", ["export", "export-status", "export-download", "export-cancel"]],
  [
    "import",
    [
      "import-upload",
      "import-preview",
      "import-commit",
      "import-status",
      "import-template",
      "import-errors",
      "import-cancel",
    ],
  ],
  ["lock", ["lock/acquire", "lock/release", "lock/status"]],
]);
