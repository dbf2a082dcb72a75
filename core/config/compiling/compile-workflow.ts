/**
 * Compiles `workflow` into a plan: the status column, the allowed transitions, and the hooks (`hook-plan.ts`). A status
 * that no record could have is a fault at start instead of an error at its first use.
 */
import { switchedOn } from "../../actions.ts";
import type { Column, Columns, Table } from "../../values/types/column.ts";
import type { ReadPlan } from "../../plans/read-plan.ts";
import type { StatusHook, WorkflowPlan } from "../../plans/workflow-plan.ts";
import type { WritePlan } from "../../plans/write-plan.ts";
import type { Rules } from "../../rules/compile-rules.ts";
import { didYouMean } from "../reading/did-you-mean.ts";
import { noticeRoles } from "./access-plan.ts";
import type { Path } from "../reading/faults.ts";
import { type HookSettings, hookOf } from "./hook-plan.ts";
import { forEverybody } from "./plans.ts";
import type { Survey } from "./survey.ts";

/** Null without a workflow, or when the entity cannot have one, with faults that say why. */
export function workflowOf(
  survey: Survey,
  parts: {
    table: Table | null;
    shown: Columns;
    write: WritePlan | null;
    read: ReadPlan | null;
    rules: Rules;
  },
): WorkflowPlan | null {
  const { table, write, rules } = parts;
  const { action, workflow: config } = survey.payload;
  const isAsked =
    config !== undefined || switchedOn(action, ({ requires }) => requires.has("status")).length > 0;
  if (table === null || !isAsked) return null;
  const status = statusColumn(survey, table, write);
  if (status === null) return null;
  const fields: Columns = new Map([[status.name, status]]);
  const isStatus = (text: string, path: Path) => checkStatus(survey, text, { path, rules, fields });
  const shown = write?.readBack && parts.read ? parts.read.columns : parts.shown;
  const hidden = forEverybody(survey.payload.hiddenFields);
  const open = [...table.columns].filter(([name]) => !hidden.includes(name));
  const named = new Set<string>();
  const names = new Set([...shown.keys(), ...open.map(([name]) => name)]);
  const context = { survey, fields: [...names], named };
  checkReserved(survey, isStatus);
  for (const status of Object.keys(survey.payload.console?.steps ?? {}))
    checkReachable(survey, status, { path: ["console", "steps", status], isStatus });
  return {
    fields,
    status,
    tableName: survey.payload.tableName ?? table.name,
    transitions: transitionsOf(survey, isStatus),
    hooks: hooksOf(context, isStatus),
    hookColumns: new Map(
      open.filter(([name]) => named.has(name) && !parts.shown.has(name) && !fields.has(name)),
    ),
  };
}

/** Null, and a fault, when there is no status column that is writable and visible. */
function statusColumn(survey: Survey, table: Table, write: WritePlan | null): Column | null {
  const { workflow: config, hiddenFields } = survey.payload;
  const path = ["workflow", "statusField"];
  const name = config?.statusField ?? "status";
  // Without a workflow, `requirements.ts` reports what is missing.
  if (config === undefined && !table.columns.has(name)) return null;
  const column = survey.column(name, table.columns, path, `the table ${table.name}`);
  if (column === null) return null;
  const isOwn =
    write?.key.includes(column) === true ||
    (write !== null && write.audit.some((one) => one.column === column)) ||
    column.generated === "computed";
  if (isOwn) {
    survey.fault(path, {
      found: "a column that the service or the database fills",
      expected: "a column that only change-status fills",
    });
  } else if (forEverybody(hiddenFields).includes(name)) {
    survey.fault(path, {
      found: "a hidden column",
      expected: "a column that is not hidden, because change-status answers with the status",
    });
  } else if (!statusTypes.includes(column.type)) {
    survey.fault(path, { found: `a ${column.type} column`, expected: "a text column" });
  } else return column;
  return null;
}

const statusTypes: readonly string[] = ["text", "other", "integer"];

type IsStatus = (text: string, path: Path) => boolean;

/**
 * False, and a fault, for a status that no record can have, or that would be stored differently from how it is written.
 */
function checkStatus(
  survey: Survey,
  text: string,
  { path, rules, fields }: { path: Path; rules: Rules; fields: Columns },
): boolean {
  const [name = ""] = fields.keys();
  const { values, errors } = rules.check({ [name]: text }, "update", fields);
  const found = `the status ${JSON.stringify(text)}`;
  if (errors) {
    survey.fault(path, { found, expected: `a valid value of ${name} (it ${errors[name]?.[0]})` });
    return false;
  }
  const stored = String([...values.values()][0]);
  if (stored !== text)
    survey.fault(path, { found, expected: `the status as the database stores it, "${stored}"` });
  return stored === text;
}

function transitionsOf(survey: Survey, isStatus: IsStatus): WorkflowPlan["transitions"] {
  const config = survey.payload.workflow?.transitions;
  if (config === undefined) return null;
  const known = Object.keys(config);
  for (const [from, targets] of Object.entries(config)) {
    const path = ["workflow", "transitions", from];
    // The empty string stands for records without a status.
    if (from !== "") isStatus(from, path);
    for (const [index, target] of targets.entries()) {
      if (!isStatus(target, [...path, index]) || known.includes(target)) continue;
      const hint = didYouMean(target, known);
      if (hint !== undefined)
        survey.notice(`workflow.transitions: ${target} has no next status; ${hint}`);
    }
  }
  return new Map(Object.entries(config));
}

/** `roles` and `closed`; `status-rules.ts` makes them rules of the table. */
function checkReserved(survey: Survey, isStatus: IsStatus): void {
  const { roles = {}, closed = [], transitions } = survey.payload.workflow ?? {};
  const named: readonly [string, Path][] = [
    ...Object.keys(roles).map((name): [string, Path] => [name, ["workflow", "roles", name]]),
    ...closed.map((name, at): [string, Path] => [name, ["workflow", "closed", at]]),
  ];
  const known =
    transitions && new Set([...Object.keys(transitions), ...Object.values(transitions).flat()]);
  for (const [name, path] of named)
    if (isStatus(name, path) && known && !known.has(name))
      survey.fault(path, {
        found: `the status ${JSON.stringify(name)}, which the transitions do not know`,
        expected: "a status of the transitions",
        hint: didYouMean(name, known),
      });
  for (const [status, those] of Object.entries(roles))
    noticeRoles(survey, those, ["workflow", "roles", status]);
  if (Object.keys(roles).length > 0 && !survey.hasAuth)
    survey.fault(["workflow", "roles"], {
      expected: '"auth" in project.json, which identifies the callers and their roles',
    });
}

function checkReachable(
  survey: Survey,
  status: string,
  { path, isStatus }: { path: Path; isStatus: IsStatus },
): void {
  const { transitions } = survey.payload.workflow ?? {};
  const reachable = transitions && new Set(Object.values(transitions).flat());
  if (!isStatus(status, path) || !reachable || reachable.has(status)) return;
  survey.fault(path, {
    found: `the status ${JSON.stringify(status)}, to which no transition leads`,
    expected: "a status that a record can change to",
    hint: didYouMean(status, reachable),
  });
}

function hooksOf(context: HookSettings, isStatus: IsStatus): WorkflowPlan["hooks"] {
  const { survey } = context;
  const { hooks = {} } = survey.payload.workflow ?? {};
  const plans = new Map<string, { onBefore: StatusHook[]; onAfter: StatusHook[] }>();
  for (const [status, config] of Object.entries(hooks)) {
    const path = ["workflow", "hooks", status];
    checkReachable(survey, status, { path, isStatus });
    const of = (when: "onBefore" | "onAfter") =>
      config[when].flatMap(
        (hook, index) => hookOf(context, hook, { when, index, path: [...path, when, index] }) ?? [],
      );
    plans.set(status, { onBefore: of("onBefore"), onAfter: of("onAfter") });
  }
  return plans;
}
