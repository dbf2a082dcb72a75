/**
 * The one place that knows alternative spellings: other forms of the same setting, and the resource definition files of
 * RESTForge. Each step below turns one of them into the main spelling (`schema.ts`) and records where the author wrote
 * it, so that faults point there. Settings without a counterpart are faults that say what to write instead.
 */
import { isObject } from "../../values/json.ts";
import { auditFields } from "../../plans/audit-columns.ts";
import { actionGroups, actionNames, actions } from "../../actions.ts";
import { faultAt, type Document } from "./document.ts";
import { carryCalculations } from "./calculation-spellings.ts";
import { type Draft, type Members, rename } from "./draft.ts";
import { formatPath, type Fault, type Path } from "./faults.ts";
import { refuseForeign } from "./foreign-settings.ts";
import {
  dropPlainFormats,
  dropSearchOverAll,
  nestScope,
  rewriteLookupText,
} from "./list-spellings.ts";
import {
  carryDateFormats,
  harmlessOfRules,
  normaliseRules,
  refuseJsonSchemas,
  ruleProperties,
} from "./rule-spellings.ts";

/** The endpoint file's value in the main spelling, and faults for settings that cannot be converted. */
export function normaliseEndpoint(document: Document): { value: unknown; faults: Fault[] } {
  if (!isObject(document.value)) return { value: document.value, faults: [] };
  const faults: Fault[] = [];
  const draft: Draft = {
    root: structuredClone(document.value),
    moved: (to, from) => void document.origins.set(formatPath(to), from),
    refuse: (path, expected) => void faults.push(faultAt(document, path, { expected })),
  };
  for (const step of steps) step(draft);
  return { value: draft.root, faults };
}

/** Properties of such files that have no effect here, by the object that contains them. */
export const harmless = {
  file: [
    "$comment",
    "version",
    "title",
    "description",
    "author",
    "uniqueConstraints",
    "transactionMode",
    "softDeleteFkChecks",
    "softDeleteFkParents",
    "softDeleteFkChildren",
    "softDeleteCascadeTree",
  ],
  rule: harmlessOfRules,
  masterDetail: ["transactionMode", "description"],
  importConfig: ["enabled", "chunkSize", "allowedFormats"],
} as const;

/** Actions that are switched on together with others, so that a group need not name them. */
const followers: ReadonlySet<string> = new Set(
  actions.filter(({ follows }) => follows !== null).map(({ name }) => name),
);

/** Alternative names of actions, such as `createComposite` for `create-composite`; a group means several actions. */
export const actionAliases: ReadonlyMap<string, readonly string[]> = new Map([
  ...actionNames
    .map((name): [string, readonly string[]] => [camelCase(name), [name]])
    .filter(([alias, [name]]) => alias !== name),
  ...[...actionGroups].map(([group, names]): [string, readonly string[]] => [
    group,
    names.filter((name) => !followers.has(name)),
  ]),
]);

/** Names that files may have at the path besides those of the schema, for hints. */
export function otherNamesAt(path: Path): Iterable<string> {
  if (path.join() === "action") return actionAliases.keys();
  return path.at(-1) === "constraints" ? ruleProperties : [];
}

/** Audit columns by the names that the columns have by default. */
export const auditAliases: ReadonlyMap<string, string> = new Map(
  auditFields.map(({ name, property }) => [name, property]),
);

export const lookupAliases: ReadonlyMap<string, string> = new Map([
  ["lookupTable", "targetTable"],
  ["lookupColumn", "lookupField"],
  ["lookupIdColumn", "idField"],
]);

const steps: readonly ((draft: Draft) => void)[] = [
  dropNulls,
  dropHarmless,
  refuseForeign,
  refuseTurnedAccess,
  nameActions,
  switchActions,
  ({ root, moved }) => normaliseRules(root, [], moved),
  refuseJsonSchemas,
  dropSearchOverAll,
  dropPlainFormats,
  nestScope,
  nameAuditColumns,
  carryMasterDetail,
  carryDateFormats,
  carryCalculations,
  nameHooks,
  rewriteLookupText,
  carryImport,
];

/** `history` and `files` switch two actions on each, unless `action` says otherwise. */
function switchActions({ root, moved }: Draft): void {
  const { action = {} } = root;
  if (!isObject(action)) return;
  const switching = {
    history: root["history"] === true ? ["history", "revert"] : [],
    files: isObject(root["files"]) ? ["file-upload", "file-download"] : [],
  };
  for (const [property, names] of Object.entries(switching))
    for (const name of names) {
      if (Object.hasOwn(action, name)) continue;
      action[name] = true;
      moved(["action", name], [property]);
      root["action"] = action;
    }
}

/** Null means that a setting is absent. */
function dropNulls({ root }: Draft): void {
  if (root["softDelete"] === null) delete root["softDelete"];
  const workflow = root["workflow"];
  if (!isObject(workflow)) return;
  for (const name of nullable) if (workflow[name] === null) delete workflow[name];
}

const nullable = ["transitions", "hooks"];

function dropHarmless({ root }: Draft): void {
  for (const name of harmless.file) delete root[name];
}

function refuseTurnedAccess({ root, refuse }: Draft): void {
  const isAction = (name: string): boolean => actionNames.includes(name) || actionAliases.has(name);
  const instead = accessHint(root["access"], isAction);
  if (instead === null) return;
  refuse(["access"], instead);
  delete root["access"];
}

function nameActions({ root, moved }: Draft): void {
  if (!isObject(root["action"])) return;
  const written = root["action"];
  const action: Members = {};
  for (const [name, value] of Object.entries(written)) {
    for (const target of actionAliases.get(name) ?? [name]) {
      // An action's own name takes precedence over a group.
      if (target !== name && Object.hasOwn(written, target)) continue;
      action[target] = value;
      if (target !== name) moved(["action", target], ["action", name]);
    }
  }
  root["action"] = action;
}

function nameAuditColumns({ root, moved }: Draft): void {
  if (root["auditColumns"] === true) delete root["auditColumns"];
  if (root["auditColumns"] === null) root["auditColumns"] = false;
  if (isObject(root["auditColumns"]))
    rename(root["auditColumns"], auditAliases, ["auditColumns"], moved);
}

function carryMasterDetail({ root, moved }: Draft): void {
  const written = root["masterDetail"];
  if (Array.isArray(written)) {
    const kept = [...written.entries()].filter(([, entry]) => !isSwitchedOff(entry));
    root["masterDetail"] = kept.map(([, entry]) => entry);
    for (const [at, [from, entry]] of kept.entries()) {
      const base = ["masterDetail", at];
      if (at !== from) moved(base, ["masterDetail", from]);
      if (isObject(entry)) carryDetails(entry, { base, outer: { holder: entry, base } }, moved);
    }
    return;
  }
  if (isSwitchedOff(written)) delete root["masterDetail"];
  const master = root["masterDetail"];
  if (!isObject(master)) return;
  const base = ["masterDetail"];
  carry({ holder: root, name: "cascadeDelete", base: [] }, { holder: master, base }, moved);
  carryDetails(master, { base, outer: { holder: root, base: [] } }, moved);
}

const isSwitchedOff = (master: unknown): boolean => isObject(master) && master["enabled"] === false;

/** Moves properties of detailConfig that belong outside of it; `outer` is the target of detailQuery. */
function carryDetails(
  master: Members,
  { base, outer }: { base: Path; outer: { holder: Members; base: Path } },
  moved: Draft["moved"],
): void {
  delete master["enabled"];
  for (const name of harmless.masterDetail) delete master[name];
  const detail = master["detailConfig"];
  if (!isObject(detail)) return;
  const from = [...base, "detailConfig"];
  if (detail["tableName"] !== undefined && master["detailTable"] === undefined) {
    master["detailTable"] = detail["tableName"];
    moved([...base, "detailTable"], [...from, "tableName"]);
  }
  delete detail["tableName"];
  carry({ holder: detail, name: "foreignKey", base: from }, { holder: master, base }, moved);
  carry({ holder: detail, name: "detailQuery", base: from }, outer, moved);
  normaliseRules(detail, from, moved);
}

/** Alternative names of hook properties. */
export const hookAliases: ReadonlyMap<string, string> = new Map([["timeout", "timeoutMs"]]);

/** Hooks without a name get `hook1`, `hook2` … by their position. Every hook is an API call, so the type is dropped. */
function nameHooks({ root, moved }: Draft): void {
  const workflow = root["workflow"];
  if (!isObject(workflow) || !isObject(workflow["hooks"])) return;
  for (const [status, ofStatus] of Object.entries(workflow["hooks"])) {
    if (!isObject(ofStatus)) continue;
    for (const when of ["onBefore", "onAfter"]) {
      if (!Array.isArray(ofStatus[when])) continue;
      ofStatus[when] = ofStatus[when].map((hook: unknown, index) => {
        if (!isObject(hook)) return hook;
        const named: Members = { name: `hook${index + 1}`, ...hook };
        if (named["type"] === "api") delete named["type"];
        rename(named, hookAliases, ["workflow", "hooks", status, when, index], moved);
        return named;
      });
    }
  }
}

function carryImport({ root, moved }: Draft): void {
  const config = root["importConfig"];
  if (!isObject(config)) return;
  for (const name of harmless.importConfig) delete config[name];
  const size =
    typeof config["maxFileSize"] === "string"
      ? /^(\d+)\s*(B|KB|MB|GB)$/i.exec(config["maxFileSize"])
      : null;
  if (size)
    config["maxFileSize"] =
      Number(size[1]) * 1024 ** ["B", "KB", "MB", "GB"].indexOf(size[2]!.toUpperCase());
  if (!isObject(config["lookupFields"])) return;
  for (const [heading, lookup] of Object.entries(config["lookupFields"])) {
    if (isObject(lookup))
      rename(lookup, lookupAliases, ["importConfig", "lookupFields", heading], moved);
  }
}

/** Moves a property to another object unless it exists there. */
function carry(
  from: { holder: Members; name: string; base: Path },
  to: { holder: Members; base: Path },
  moved: Draft["moved"],
): void {
  if (!Object.hasOwn(from.holder, from.name) || Object.hasOwn(to.holder, from.name)) return;
  to.holder[from.name] = from.holder[from.name];
  delete from.holder[from.name];
  moved([...to.base, from.name], [...from.base, from.name]);
}

function camelCase(name: string): string {
  return name.replace(/[-/](\w)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * A hint for an `access` whose keys are actions, a common mistake: `{"read": ["admin"]}` gives `roles as the keys:
 * {"admin":["read"]}`. Null if every key can be a role. `isAction`: whether a text names an action or a group of
 * actions.
 */
export function accessHint(access: unknown, isAction: (name: string) => boolean): string | null {
  if (!isObject(access)) return null;
  const byRole = new Map<string, unknown>();
  let isTurned = false;
  for (const [name, value] of Object.entries(access)) {
    const roles = isAction(name) ? rolesIn(value, isAction) : null;
    if (roles === null) {
      byRole.set(name, value);
      continue;
    }
    isTurned = true;
    for (const role of roles) {
      const known = byRole.get(role);
      byRole.set(role, [...(Array.isArray(known) ? known : []), name]);
    }
  }
  return isTurned ? `roles as the keys: ${JSON.stringify(Object.fromEntries(byRole))}` : null;
}

/** Null if the value can be a role's list of actions. */
function rolesIn(value: unknown, isAction: (name: string) => boolean): string[] | null {
  const list: unknown[] = Array.isArray(value) ? value : value === "*" ? [] : [value];
  const isOfRoles =
    list.length > 0 && list.every((one) => typeof one === "string" && !isAction(one));
  return isOfRoles ? (list as string[]) : null;
}
