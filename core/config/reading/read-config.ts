/**
 * Turns the files of a configuration folder into checked projects, without access to a database. Start here: this is
 * the first half of loading, `compile-project.ts` the second. All faults are collected. A project or an endpoint with a
 * fault stays in the result without the members at fault where the others mean something without them, else it is left
 * out: so all that can be compiled is, and its faults are shown in the same run.
 */
import type { Dashboard } from "../../plans/dashboard.ts";
import { isObject } from "../../values/json.ts";
import { checkShape } from "./check.ts";
import { normaliseEndpoint } from "./compat.ts";
import { dashboardSchema } from "./dashboard-schema.ts";
import { readDocument, type Document } from "./document.ts";
import { replaceVariables, type Environment } from "./environment.ts";
import { sortFaults, type Fault } from "./faults.ts";
import type { Messages } from "../../plans/messages.ts";
import { readMessages, suffixFaults } from "./read-messages.ts";
import { projectSchema, type ProjectSettings } from "./project-schema.ts";
import { endpointSchema, type Payload } from "./schema.ts";

/** Path relative to the configuration folder, with `/` between the names -> text of the file. */
export type ConfigFiles = ReadonlyMap<string, string>;

export interface EndpointConfig {
  /** The file's name without `.json`. */
  readonly name: string;
  readonly payload: Payload;
  readonly document: Document;
  /** Of the form of its members, which the payload lacks. */
  readonly faults: readonly Fault[];
}

/** `dashboard.json`. */
export interface DashboardConfig {
  readonly dashboard: Dashboard;
  readonly document: Document;
}

/** One project: the settings of its project.json, and its endpoints by name. */
export interface ProjectConfig extends ProjectSettings {
  readonly name: string;
  readonly document: Document;
  readonly endpoints: readonly EndpointConfig[];
  /** Every endpoint that has a file, also those that its faults keep out of `endpoints`. */
  readonly endpointNames: ReadonlySet<string>;
  /** Null: the project has none. */
  readonly dashboard: DashboardConfig | null;
  /** Endpoints whose files have faults, with those; only with `"onFault": "skip"`. */
  readonly leftOut: ReadonlyMap<string, readonly Fault[]>;
  /** Texts in other languages, from `messages/<language>.json`. */
  readonly messages: Messages;
  /** Other files of the project by their path inside its folder: `query/open.sql` -> text. */
  readonly files: ReadonlyMap<string, string>;
}

const nameShape = /^[A-Za-z0-9_-]+$/;

/** Projects that can be compiled, in the order of their names, and the faults of all files. */
export function readConfig(
  files: ConfigFiles,
  env: Environment,
): { projects: ProjectConfig[]; faults: Fault[] } {
  const faults: Fault[] = [];
  const folders = foldersOf(files);
  const projects = [...folders].flatMap(
    ([name, folder]) => readProject(name, folder, env, faults) ?? [],
  );
  if (folders.size === 0) {
    faults.push({
      file: "<project>/project.json",
      path: "$",
      found: "no project in the configuration folder",
      expected:
        'a folder that holds a project.json such as {"database": {"url": "…"}} and one <endpoint>.json for each entity',
    });
  }
  return { projects, faults: sortFaults(faults) };
}

/** Project name -> its files by path within the folder. A folder with no JSON files is not a project. */
function foldersOf(files: ConfigFiles): Map<string, Map<string, string>> {
  const folders = new Map<string, Map<string, string>>();
  for (const [path, text] of [...files].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const slash = path.indexOf("/");
    if (slash < 0) continue;
    const name = path.slice(0, slash);
    folders.set(name, (folders.get(name) ?? new Map()).set(path.slice(slash + 1), text));
  }
  return new Map([...folders].filter(([, folder]) => [...folder.keys()].some(isOwnJson)));
}

const isOwnJson = (path: string): boolean => /^[^/]+\.json$/i.test(path);

function readProject(
  name: string,
  folder: ReadonlyMap<string, string>,
  env: Environment,
  faults: Fault[],
): ProjectConfig | null {
  const file = `${name}/project.json`;
  if (!nameShape.test(name)) faults.push(badName(file, name));
  const dashboard = readDashboard(name, folder, faults);
  const others = new Set(["project.json", ...(dashboard === undefined ? [] : [dashboardFile])]);
  const read = [...folder.keys()]
    .filter((path) => isOwnJson(path) && !others.has(path))
    .map((path) => {
      const own: Fault[] = [];
      const endpoint = readEndpoint(name, path, folder.get(path)!, own);
      return { name: path.slice(0, -".json".length), endpoint, faults: own };
    });
  const settings = readSettings(name, folder, { env, faults });
  const messages = readMessages(name, folder, faults);
  const faulty = read.filter((one) => one.faults.length > 0);
  const skips = settings !== null && mayLeaveOut(settings);
  if (!skips) faults.push(...faulty.flatMap((one) => one.faults));
  return (
    settings && {
      ...settings,
      name,
      endpoints: read.flatMap((one) =>
        skips && one.faults.length > 0 ? [] : (one.endpoint ?? []),
      ),
      endpointNames: new Set(read.map((one) => one.name)),
      dashboard: dashboard ?? null,
      leftOut: new Map(skips ? faulty.map((one) => [one.name, one.faults]) : []),
      messages,
      files: folder,
    }
  );
}

/**
 * Whether an endpoint whose file has faults may be left out. Never if callers have different rights: the rules of such
 * a file may protect a table that other endpoints join.
 */
const mayLeaveOut = ({ onFault, auth }: ProjectSettings): boolean =>
  onFault === "skip" && Object.keys(auth ?? {}).length === 0;

/** Null: project.json is missing, or means nothing without what is at fault in it. */
function readSettings(
  name: string,
  folder: ReadonlyMap<string, string>,
  { env, faults }: { env: Environment; faults: Fault[] },
): (ProjectSettings & { readonly document: Document }) | null {
  const file = `${name}/project.json`;
  const text = folder.get("project.json");
  if (text === undefined) {
    faults.push({
      file,
      path: "$",
      found: "no such file",
      expected: 'a file that names the database: {"database": {"url": "…"}}',
    });
    return null;
  }
  const { document, faults: textFaults } = readDocument(file, text);
  faults.push(...textFaults);
  if (document === null) return null;
  const replaced = replaceVariables(document, env);
  const checked = checkShape(projectSchema, document, replaced.value, neededSettings);
  faults.push(...replaced.faults, ...checked.faults);
  if (
    checked.rest === null ||
    textFaults.length + replaced.faults.length > 0 ||
    !nameShape.test(name)
  )
    return null;
  // A fault here prevents serving, so those of endpoints are told beside it, not left out.
  return checked.value
    ? { ...checked.value, document }
    : { ...checked.rest, onFault: "stop", document };
}

/** They say where the tables are, and whether there are roles. */
const neededSettings: ReadonlySet<string> = new Set(["database", "auth"]);

const dashboardFile = "dashboard.json";

/** Undefined: there is no such file, or it is that of an endpoint, which has `action`. Null: it has faults. */
function readDashboard(
  project: string,
  folder: ReadonlyMap<string, string>,
  faults: Fault[],
): DashboardConfig | null | undefined {
  const text = folder.get(dashboardFile);
  if (text === undefined) return undefined;
  const { document, faults: textFaults } = readDocument(`${project}/${dashboardFile}`, text);
  if (isObject(document?.value) && Object.hasOwn(document.value, "action")) return undefined;
  faults.push(...textFaults);
  if (document === null) return null;
  const checked = checkShape(dashboardSchema, document, document.value);
  faults.push(...checked.faults);
  return checked.value && textFaults.length === 0 ? { dashboard: checked.value, document } : null;
}

/** Null: it has faults, and means nothing without the members at fault. */
function readEndpoint(
  project: string,
  path: string,
  text: string,
  faults: Fault[],
): EndpointConfig | null {
  const file = `${project}/${path}`;
  const name = path.slice(0, -".json".length);
  const misnamed = suffixFaults(file);
  faults.push(...misnamed);
  if (misnamed.length > 0) return null;
  const { document, faults: textFaults } = readDocument(file, text);
  faults.push(...textFaults);
  if (!nameShape.test(name)) faults.push(badName(file, name));
  if (document === null) return null;
  const normal = normaliseEndpoint(document);
  const checked = checkShape(endpointSchema, document, normal.value, needed);
  faults.push(...normal.faults, ...checked.faults);
  if (
    checked.rest === null ||
    textFaults.length + normal.faults.length > 0 ||
    !nameShape.test(name)
  )
    return null;
  return { name, payload: checked.rest, document, faults: checked.faults };
}

/** They say which columns and names there are: without them, the others would have faults that are none. */
const needed: ReadonlySet<string> = new Set([
  "action",
  "tableName",
  "viewName",
  "viewQuery",
  "params",
  "primaryKey",
  "relations",
]);

const badName = (file: string, name: string): Fault => ({
  file,
  path: "$",
  found: `the name ${JSON.stringify(name)}`,
  expected: "a name of letters, digits, - and _, because it becomes part of the URL",
});
