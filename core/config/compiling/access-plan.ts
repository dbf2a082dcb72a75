/**
 * `access`, `rowScope` and the lists per role of an endpoint's file -> its access rules. A misspelled role, or a column
 * that one of the sources lacks, would allow what should be forbidden, so each is a fault.
 */
import { actionNames, switchedOn } from "../../actions.ts";
import { closest } from "../../values/closest.ts";
import type { Columns, Table } from "../../values/types/column.ts";
import { AppError } from "../../values/errors.ts";
import { isObject, type Json } from "../../values/json.ts";
import type { Entity } from "../../plans/entity.ts";
import {
  type AccessRules,
  everyRole,
  type RowRule,
  type RowValue,
} from "../../plans/access-rules.ts";
import { condition } from "../../query/where.ts";
import { actionAliases } from "../reading/compat.ts";
import { didYouMean, hintAfter } from "../reading/did-you-mean.ts";
import type { LineColumns } from "./compile-composite.ts";
import type { Path } from "../reading/faults.ts";
import type { ProjectConfig } from "../reading/read-config.ts";
import type { Survey } from "./survey.ts";

/** Columns of one source of the endpoint, and how faults name it. */
export interface NamedColumns {
  readonly columns: Columns;
  readonly label: string;
}

/** What the rules are checked against. */
export interface AccessSources {
  readonly table: Table | null;
  /** All sources that requests read or write. A condition on rows must be possible in each. */
  readonly sources: readonly NamedColumns[];
  /** Of the details; null = not known. */
  readonly lines: LineColumns | null;
}

/** Null when the project has no `auth`. Rules would then have no effect, so they are faults. */
export function accessOf(
  survey: Survey,
  { table, sources, lines }: AccessSources,
): AccessRules | null {
  const { payload, hasAuth } = survey;
  if (!hasAuth) {
    refuseWithoutAuth(survey);
    return null;
  }
  const access = payload.access ?? {};
  const actions = new Map(
    Object.entries(access).map(([role, list]) => [
      role,
      withFileActions(allowedActions(survey, role, list)),
    ]),
  );
  const showing = new Set(
    switchedOn(
      payload.action,
      ({ showsColumns, requires }) =>
        showsColumns || requires.has("source") || requires.has("exportSource"),
    ),
  );
  const writing = new Set(
    switchedOn(payload.action, ({ mode, group }) => mode === "writes" || group === "import"),
  );
  const rolesWith = (some: ReadonlySet<string>): ReadonlySet<string> =>
    new Set([...actions].flatMap(([role, names]) => (names.isDisjointFrom(some) ? [] : [role])));
  const rows = new Map(
    Object.entries(payload.rowScope ?? {}).map(
      ([role, conditions]) => [role, rowRules(survey, { role, conditions, sources })] as const,
    ),
  );
  const named = (ofLines: Columns | undefined) =>
    ofLines && new Map([...ofLines, ...sources.flatMap(({ columns }) => [...columns])]);
  const hidden = columnLists(survey, "hiddenFields", named(lines?.shown));
  const seesAll = (role: string): boolean => !rows.has(role) && !hidden.has(role);
  const rules: AccessRules = {
    actions,
    administrators: new Set(
      Object.keys(access).filter((role) => access[role] === "*" && seesAll(role)),
    ),
    readers: rolesWith(showing),
    writers: rolesWith(writing),
    rows,
    hidden,
    readOnly: columnLists(survey, "readOnlyFields", named(lines?.written)),
    table,
  };
  noticeUnusedRoles(survey, rules);
  return rules;
}

function refuseWithoutAuth(survey: Survey): void {
  const { access, rowScope, hiddenFields, readOnlyFields } = survey.payload;
  const expected =
    '"auth" in project.json, which identifies the callers (without it every caller may do everything)';
  for (const [name, value] of Object.entries({ access, rowScope })) {
    if (value !== undefined && Object.keys(value).length > 0) survey.fault([name], { expected });
  }
  for (const [name, value] of Object.entries({ hiddenFields, readOnlyFields })) {
    if (!Array.isArray(value))
      survey.fault([name], { expected: `one list for all callers, or ${expected}` });
  }
}

/** Actions that show the columns of a record, and those that set them. */
const showingFiles = new Set(["read", "first", "datatables", "read-composite"]);
const settingFiles = new Set([
  "create",
  "update",
  "bulk-create",
  "bulk-update",
  "upsert",
  "create-composite",
  "update-composite",
]);

/** A role that sees a column of files may download them, one that sets it may upload them: that needs no names. */
const withFileActions = (names: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([
    ...names,
    ...(names.isDisjointFrom(showingFiles) ? [] : ["file-download"]),
    ...(names.isDisjointFrom(settingFiles) ? [] : ["file-upload"]),
  ]);

/** Names of actions and groups -> names of actions. */
function allowedActions(
  survey: Survey,
  role: string,
  list: "*" | readonly string[],
): ReadonlySet<string> {
  if (list === "*") return new Set(actionNames);
  const known = [...actionNames, ...actionAliases.keys()];
  return new Set(
    list.flatMap((name, at) => {
      // export is an action and a group: a role that may start an export may also download it.
      const meant = actionAliases.get(name) ?? (actionNames.includes(name) ? [name] : null);
      if (meant)
        return [...meant, ...switchedOn(Object.fromEntries(meant.map((one) => [one, true])))];
      const near = closest(name, known);
      survey.fault(["access", role, at], {
        found: JSON.stringify(name),
        expected: "the name of an action, or one of the groups import, export, lock and workflow",
        hint: near === null ? undefined : `did you mean ${JSON.stringify(near)}?`,
      });
      return [];
    }),
  );
}

function rowRules(
  survey: Survey,
  {
    role,
    conditions,
    sources,
  }: {
    role: string;
    conditions: Readonly<Record<string, unknown>>;
    sources: readonly NamedColumns[];
  },
): RowRule[] {
  return Object.entries(conditions).flatMap(([column, entry]) => {
    const path = ["rowScope", role, column];
    const { operator, value } = isObject(entry)
      ? { operator: String(entry["operator"]).toUpperCase(), value: entry["value"] ?? null }
      : { operator: "=", value: entry };
    const read = rowValue(survey, [...path, ...(isObject(entry) ? ["value"] : [])], value as Json);
    if (read === null) return [];
    const rule: RowRule = { column, operator, value: read };
    if (isRulePath(survey, rule, sources)) return [rule];
    return sources.every((source) => fits(survey, { path, rule, source })) ? [rule] : [];
  });
}

/** Whether the rule is about related records: `scope-paths.ts` looks it up, when relations are known. */
const isRulePath = (
  { payload }: Survey,
  { column }: RowRule,
  sources: readonly NamedColumns[],
): boolean =>
  payload.relations !== undefined &&
  column.includes(".") &&
  !sources.some(({ columns }) => columns.has(column));

const claimForm = /^\{\{\s*claims\.([^{}]+?)\s*\}\}$/;

function rowValue(survey: Survey, path: Path, value: Json): RowValue | null {
  if (typeof value !== "string" || !value.includes("{{")) return { kind: "fixed", value };
  const [, claim] = claimForm.exec(value) ?? [];
  if (claim !== undefined) return { kind: "claim", path: claim };
  survey.fault(path, { expected: 'a claim as the whole value, such as "{{claims.tenant}}"' });
  return null;
}

/** Whether the source has the column, and the column supports the operator and the value. */
export function fits(
  survey: Survey,
  { path, rule, source }: { path: Path; rule: RowRule; source: NamedColumns },
): boolean {
  if (survey.column(rule.column, source.columns, path, source.label) === null) return false;
  const { column: key, operator, value } = rule;
  const isList = operator.endsWith("IN") || operator.endsWith("BETWEEN");
  // The value of a claim is not known yet; checking with null at least shows that the operator exists.
  if (value.kind === "claim" && operator.endsWith("BETWEEN")) {
    survey.fault(path, { expected: "two fixed values, because BETWEEN cannot take a claim" });
    return false;
  }
  const sample = value.kind === "fixed" ? value.value : isList ? [] : "";
  try {
    condition(source.columns).read({ key, operator, value: sample });
    return true;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (value.kind === "claim" && error.kind === "invalidParameter") return true;
    survey.fault(path, { expected: `a valid condition (${error.message})` });
    return false;
  }
}

/** `known`: undefined = the columns of the details are not known, so names cannot be checked. */
function columnLists(
  survey: Survey,
  property: "hiddenFields" | "readOnlyFields",
  known: Columns | undefined,
): ReadonlyMap<string, ReadonlySet<string>> {
  const lists = survey.payload[property];
  if (Array.isArray(lists)) return new Map();
  return new Map(
    Object.entries(lists).map(([role, names]) => {
      if (known)
        survey.columns(names, known, [property, role], "what the endpoint reads or writes");
      return [role, new Set(names)];
    }),
  );
}

/** If a query shows lines without their key, the service cannot tell which ones a caller may see. */
export function noteKeylessLines(
  compiled: readonly { readonly survey: Survey; readonly entity: Entity }[],
): void {
  for (const { survey, entity } of compiled) {
    for (const { table, lineKey, query } of entity.composite?.details ?? []) {
      const missing = lineKey.filter(
        ({ name }) => !query?.columns.some((one) => one.name === name),
      );
      const scoped = compiled.filter(
        ({ entity: { access } }) =>
          access?.table?.identity === table.identity && access.rows.size > 0,
      );
      if (query === null || missing.length === 0 || scoped.length === 0) continue;
      survey.notice(
        `the detailQuery has no column ${missing.map(({ name }) => name).join(", ")}: it shows no line to callers from whom the rowScope of ${scoped[0]!.entity.name} hides some`,
      );
    }
  }
}

/** A role without any right is probably misspelled; `*` stands for all callers. */
export function noticeRoles(survey: Survey, named: readonly string[], path: Path): void {
  const roles = new Set(Object.keys(survey.payload.access ?? {})).add(everyRole);
  for (const role of roles.size > 1 ? named : [])
    if (!roles.has(role))
      survey.notice(
        `${path.join(".")} names the role "${role}", which is not in "access"${hintAfter(role, roles)}`,
      );
}

/** Roles of project.json that no endpoint gives a right, where one with nearly that name has some. */
export function misspeltRoles({ name, auth, endpoints }: ProjectConfig): string[] {
  const roles = new Set(endpoints.flatMap(({ payload }) => Object.keys(payload.access ?? {})));
  const given = [
    ...(auth?.apiKeys ?? []).map((key) => ({ of: `the key ${key.id}`, roles: key.roles })),
    { of: "auth.anonymous", roles: auth?.anonymous?.roles ?? [] },
  ];
  return given.flatMap(({ of, roles: own }) =>
    own.flatMap((role) => {
      const hint = roles.has(role) ? undefined : didYouMean(role, roles);
      return hint === undefined
        ? []
        : `${name}: ${of} has the role "${role}", which no "access" names; ${hint}`;
    }),
  );
}

/** A role that has rules for rows or columns but no action is probably misspelled. */
function noticeUnusedRoles(survey: Survey, { actions, rows, hidden, readOnly }: AccessRules): void {
  for (const [property, roles] of Object.entries({
    rowScope: rows,
    hiddenFields: hidden,
    readOnlyFields: readOnly,
  })) {
    for (const role of roles.keys()) {
      if (actions.has(role)) continue;
      const near = closest(
        role,
        [...actions.keys()].filter((name) => name !== everyRole),
      );
      survey.notice(
        `${property} names the role "${role}", which is not in "access"; the entry has no effect` +
          (near === null ? "" : `. Did you mean "${near}"?`),
      );
    }
  }
}
