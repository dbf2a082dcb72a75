/**
 * The one place that knows second spellings: other forms of the same setting, and the resource definition files of
 * RESTForge. Each step below turns one of them into the first spelling (`schema.ts`) and notes where the author wrote
 * it, so that faults point there. What has no counterpart is named with what to write instead.
 */
import { actionGroups, actionNames, actions } from "../actions.ts";
import { accessHint } from "./access-hint.ts";
import { faultAt, type Document } from "./document.ts";
import { formatPath, type Fault, type Path } from "./faults.ts";
import { isRuleName } from "../rules/field-rules.ts";

type Members = Record<string, unknown>;

interface Draft {
  /** The file's value; the steps change it. */
  readonly root: Members;
  /** Says that what stands at `to` now was written at `from`. */
  moved(to: Path, from: Path): void;
  refuse(path: Path, expected: string): void;
}

/** The endpoint file's value in the first spelling, and what cannot be carried over. */
export function normaliseEndpoint(document: Document): { value: unknown; faults: Fault[] } {
  if (!isMembers(document.value)) return { value: document.value, faults: [] };
  const faults: Fault[] = [];
  const draft: Draft = {
    root: structuredClone(document.value),
    moved: (to, from) => void document.origins.set(formatPath(to), from),
    refuse: (path, expected) => void faults.push(faultAt(document, path, { expected })),
  };
  for (const step of steps) step(draft);
  return { value: draft.root, faults };
}

/** Properties without effect here that such files carry, by the object that they stand in. */
export const harmless = {
  file: [
    "$comment",
    "version",
    "title",
    "description",
    "author",
    "uniqueConstraints",
    "transactionMode",
  ],
  rule: ["label", "description"],
  masterDetail: ["transactionMode", "description"],
  importConfig: ["enabled", "chunkSize", "allowedFormats"],
} as const;

/** Settings of RESTForge that have no counterpart, and what to write instead. */
export const foreign: ReadonlyMap<string, string> = new Map([
  ["kafka", "no kafka: let a handler of an onAfter… event send the message"],
  ["processor", "no processor: write handlers of the on… events under components"],
  [
    "softDelete",
    "no softDelete: leave delete off, and set the column with update; defaultScope hides such rows",
  ],
]);

/** Actions that others switch on, and that a group need not name. */
const followers: ReadonlySet<string> = new Set(
  actions.filter(({ follows }) => follows !== null).map(({ name }) => name),
);

/** Second names of actions, as `createComposite` for `create-composite`; the groups stand for several. */
export const actionAliases: ReadonlyMap<string, readonly string[]> = new Map([
  ...actionNames
    .map((name): [string, readonly string[]] => [camelCase(name), [name]])
    .filter(([alias, [name]]) => alias !== name),
  ...[...actionGroups].map(([group, names]): [string, readonly string[]] => [
    group,
    names.filter((name) => !followers.has(name)),
  ]),
]);

/** Audit columns by the names that the columns have by default. */
export const auditAliases: ReadonlyMap<string, string> = new Map([
  ["created_at", "createdAt"],
  ["created_by", "createdBy"],
  ["updated_at", "updatedAt"],
  ["updated_by", "updatedBy"],
]);

export const lookupAliases: ReadonlyMap<string, string> = new Map([
  ["lookupTable", "targetTable"],
  ["lookupColumn", "lookupField"],
  ["lookupIdColumn", "idField"],
]);

const steps: readonly ((draft: Draft) => void)[] = [
  dropHarmless,
  refuseForeign,
  refuseTurnedAccess,
  nameActions,
  ({ root, moved }) => normaliseRules(root, [], moved),
  nestScope,
  nameAuditColumns,
  carryMasterDetail,
  carryCalculations,
  nameHooks,
  trimLookupText,
  carryImport,
];

function dropHarmless({ root }: Draft): void {
  for (const name of harmless.file) delete root[name];
}

function refuseForeign({ root, refuse }: Draft): void {
  for (const [name, instead] of foreign) {
    const value = root[name];
    delete root[name];
    const isOff = value === undefined || value === null || value === false;
    if (!isOff && !(isMembers(value) && value["enabled"] === false)) refuse([name], instead);
  }
  if (!Array.isArray(root["components"])) return;
  if (root["components"].length > 0) {
    refuse(
      ["components"],
      'an object from event to handlers, as {"onBeforeInsert": ["components/code.ts#check"]}',
    );
  }
  delete root["components"];
}

function refuseTurnedAccess({ root, refuse }: Draft): void {
  const isAction = (name: string): boolean => actionNames.includes(name) || actionAliases.has(name);
  const instead = accessHint(root["access"], isAction);
  if (instead === null) return;
  refuse(["access"], instead);
  delete root["access"];
}

function nameActions({ root, moved }: Draft): void {
  if (!isMembers(root["action"])) return;
  const written = root["action"];
  const action: Members = {};
  for (const [name, value] of Object.entries(written)) {
    for (const target of actionAliases.get(name) ?? [name]) {
      // A name of its own says more than a group.
      if (target !== name && Object.hasOwn(written, target)) continue;
      action[target] = value;
      if (target !== name) moved(["action", target], ["action", name]);
    }
  }
  root["action"] = action;
}

/** `{price: {required: true}}` and `[{name: "price", required: true}]` -> `[{name: "price", constraints: {required: true}}]`. */
function normaliseRules(holder: Members, base: Path, moved: Draft["moved"]): void {
  const rules = holder["fieldValidation"];
  const at = [...base, "fieldValidation"];
  if (isMembers(rules)) {
    holder["fieldValidation"] = Object.entries(rules).map(([name, rule], index) => {
      moved([...at, index], [...at, name]);
      moved([...at, index, "name"], [...at, name]);
      return isMembers(rule)
        ? nestConstraints({ name, ...rule }, [...at, index], [...at, name], moved)
        : rule;
    });
  } else if (Array.isArray(rules)) {
    holder["fieldValidation"] = rules.map((rule, index) =>
      isMembers(rule) ? nestConstraints(rule, [...at, index], [...at, index], moved) : rule,
    );
  }
}

const ruleProperties: readonly string[] = [
  "name",
  "type",
  "primaryKey",
  "autoGenerate",
  "constraints",
];

/** Constraints beside `name` and `type` go into `constraints`; one that is there already stays, for the check to refuse. */
function nestConstraints(rule: Members, to: Path, from: Path, moved: Draft["moved"]): Members {
  const nested = rule["constraints"] ?? {};
  if (!isMembers(nested)) return rule;
  const isFlat = !Object.hasOwn(rule, "constraints");
  const normal: Members = { constraints: { ...nested } };
  for (const [name, value] of Object.entries(rule)) {
    if (name === "constraints" || (harmless.rule as readonly string[]).includes(name)) continue;
    const isConstraint = isRuleName(name.replace(/Message$/, "")) || name === "typeMessage";
    if (ruleProperties.includes(name) || !(isFlat || isConstraint) || Object.hasOwn(nested, name)) {
      normal[name] = value;
      continue;
    }
    (normal["constraints"] as Members)[name] = value;
    moved([...to, "constraints", name], [...from, name]);
  }
  return normal;
}

/** One flat object holds for reads and for lookups. */
function nestScope({ root, moved }: Draft): void {
  const scope = root["defaultScope"];
  if (!isMembers(scope)) return;
  const entries = Object.entries(scope);
  const isNested = entries.every(
    ([name, value]) => (name === "read" || name === "lookup") && isMembers(value),
  );
  if (isNested && entries.length > 0) return;
  root["defaultScope"] = { read: scope, lookup: scope };
  for (const use of ["read", "lookup"]) moved(["defaultScope", use], ["defaultScope"]);
}

function nameAuditColumns({ root, moved }: Draft): void {
  if (root["auditColumns"] === true) delete root["auditColumns"];
  if (isMembers(root["auditColumns"]))
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
      if (isMembers(entry)) carryDetails(entry, { base, outer: { holder: entry, base } }, moved);
    }
    return;
  }
  if (isSwitchedOff(written)) delete root["masterDetail"];
  const master = root["masterDetail"];
  if (!isMembers(master)) return;
  const base = ["masterDetail"];
  carry({ holder: root, name: "cascadeDelete", base: [] }, { holder: master, base }, moved);
  carryDetails(master, { base, outer: { holder: root, base: [] } }, moved);
}

const isSwitchedOff = (master: unknown): boolean =>
  isMembers(master) && master["enabled"] === false;

/** What stands inside detailConfig and belongs around it; `outer` is where the detailQuery goes. */
function carryDetails(
  master: Members,
  { base, outer }: { base: Path; outer: { holder: Members; base: Path } },
  moved: Draft["moved"],
): void {
  delete master["enabled"];
  for (const name of harmless.masterDetail) delete master[name];
  const detail = master["detailConfig"];
  if (!isMembers(detail)) return;
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

/** autoCalculateFields and headerCalculations -> calculation, of the endpoint or of one of several kinds of details. */
function carryCalculations(draft: Draft): void {
  const { root } = draft;
  const written = root["masterDetail"];
  const several = Array.isArray(written) ? written.filter(isMembers) : [];
  for (const [at, entry] of several.entries())
    carryFormulas(draft, entry, [...placesOf(entry, ["masterDetail", at])]);
  const master = isMembers(written) ? written : {};
  carryFormulas(draft, root, [...placesOf(master, ["masterDetail"]), [root, []]]);
}

/** Where the formulas of details may stand. */
const placesOf = (master: Members, base: Path): (readonly [Members, Path])[] => [
  [isMembers(master["detailConfig"]) ? master["detailConfig"] : {}, [...base, "detailConfig"]],
  [master, base],
];

function carryFormulas(
  { moved, refuse }: Draft,
  target: Members,
  places: readonly (readonly [Members, Path])[],
): void {
  const calculation: Members = isMembers(target["calculation"]) ? target["calculation"] : {};
  const targetBase = places.find(([holder]) => holder === target)?.[1] ?? [];
  for (const [holder, base] of places) {
    take(holder, base, "autoCalculateFields", "detail", (text) => text);
    take(holder, base, "headerCalculations", "header", headerFormula);
  }

  function take(
    holder: Members,
    base: Path,
    name: string,
    part: string,
    translate: (text: string) => string | null,
  ): void {
    const written = holder[name];
    if (written === undefined) return;
    delete holder[name];
    const formulas = isMembers(calculation[part]) ? calculation[part] : {};
    for (const [key, entry] of isMembers(written) || Array.isArray(written)
      ? Object.entries(written)
      : []) {
      const from = [...base, name, Array.isArray(written) ? Number(key) : key];
      const field = isMembers(entry) ? (entry["field"] ?? entry["name"] ?? key) : key;
      if (isMembers(entry) && entry["type"] === "generated") continue;
      const text = isMembers(entry) ? (entry["formula"] ?? entry["expression"]) : entry;
      const formula = typeof text === "string" ? translate(text) : null;
      if (formula === null) {
        refuse(from, `a formula that calculation.${part} can hold, written there`);
        continue;
      }
      formulas[String(field)] = formula;
      moved([...targetBase, "calculation", part, String(field)], from);
    }
    calculation[part] = formulas;
    target["calculation"] = calculation;
  }
}

/** `items.length` -> `COUNT(*)`, `items.amount` -> `SUM(amount)`, `MAX(items.amount)` -> `MAX(amount)`. */
function headerFormula(text: string): string | null {
  const match =
    /^\s*(?:(COUNT|SUM|AVG|MIN|MAX)\s*\(\s*(?:items\.)?(\w+|\*)\s*\)|items\.(\w+))\s*$/i.exec(text);
  if (!match) return null;
  if (match[3] === "length") return "COUNT(*)";
  return match[3] ? `SUM(${match[3]})` : `${match[1]!.toUpperCase()}(${match[2]})`;
}

/** Hooks without a name get `hook1`, `hook2` … by their place. */
function nameHooks({ root }: Draft): void {
  const workflow = root["workflow"];
  if (!isMembers(workflow) || !isMembers(workflow["hooks"])) return;
  for (const ofStatus of Object.values(workflow["hooks"]).filter(isMembers)) {
    for (const when of ["onBefore", "onAfter"]) {
      if (!Array.isArray(ofStatus[when])) continue;
      ofStatus[when] = ofStatus[when].map((hook: unknown, index) =>
        isMembers(hook) ? { name: `hook${index + 1}`, ...hook } : hook,
      );
    }
  }
}

/** `name AS display_text` -> `name`. */
function trimLookupText({ root }: Draft): void {
  const lookup = root["fieldNameLookup"];
  if (!isMembers(lookup) || typeof lookup["text"] !== "string") return;
  lookup["text"] = lookup["text"].replace(/\s+as\s+"?display_text"?\s*$/i, "");
}

function carryImport({ root, moved }: Draft): void {
  const config = root["importConfig"];
  if (!isMembers(config)) return;
  for (const name of harmless.importConfig) delete config[name];
  const size =
    typeof config["maxFileSize"] === "string"
      ? /^(\d+)\s*(B|KB|MB|GB)$/i.exec(config["maxFileSize"])
      : null;
  if (size)
    config["maxFileSize"] =
      Number(size[1]) * 1024 ** ["B", "KB", "MB", "GB"].indexOf(size[2]!.toUpperCase());
  if (!isMembers(config["lookupFields"])) return;
  for (const [heading, lookup] of Object.entries(config["lookupFields"])) {
    if (isMembers(lookup))
      rename(lookup, lookupAliases, ["importConfig", "lookupFields", heading], moved);
  }
}

/** A second name gives way to the first; where both stand, the check refuses the second. */
function rename(
  holder: Members,
  aliases: ReadonlyMap<string, string>,
  base: Path,
  moved: Draft["moved"],
): void {
  for (const [alias, name] of aliases) {
    if (!Object.hasOwn(holder, alias) || Object.hasOwn(holder, name)) continue;
    holder[name] = holder[alias];
    delete holder[alias];
    moved([...base, name], [...base, alias]);
  }
}

/** A property moves to another object, unless it is there already. */
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

const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);
