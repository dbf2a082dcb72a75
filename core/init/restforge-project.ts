/**
 * Takes the files of a RESTForge project over unchanged, since the service reads their spellings. They are compiled
 * against the database, so that the summary can list what must be changed.
 */
import { compileProject } from "../config/compile-project.ts";
import type { Members } from "../config/reading/draft.ts";
import { isObject } from "../values/json.ts";
import { type Fault, sortFaults } from "../config/reading/faults.ts";
import { foreign } from "../config/reading/foreign-settings.ts";
import { readJsonText } from "../config/reading/json-text.ts";
import { readConfig } from "../config/reading/read-config.ts";
import type { Catalog } from "../plans/database-catalog.ts";
import { type ProjectDraft, projectText } from "./draft-project.ts";
import { plainName } from "./file-names.ts";

export interface RestforgeFiles {
  /** Of the folder `payload`, by file name. */
  readonly payloads: ReadonlyMap<string, string>;
  /** By path below the folder `query`. */
  readonly queries: ReadonlyMap<string, string>;
}

export interface TakeOptions {
  readonly project: string;
  /** As in project.json. */
  readonly url: string;
  /** What `url` means, for the check. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Rejects as the catalog does. */
export async function takeRestforge(
  { payloads, queries }: RestforgeFiles,
  catalog: Catalog,
  { project, url, env }: TakeOptions,
): Promise<ProjectDraft> {
  const files = new Map([[`${project}/project.json`, projectText(url)]]);
  const skipped: { name: string; reason: string }[] = [];
  for (const [name, text] of payloads) {
    const reason = withoutTable(text);
    if (reason === null) files.set(freePath(project, name, files), text);
    else skipped.push({ name, reason });
  }
  for (const [path, text] of queries) files.set(`${project}/query/${path}`, text);
  const found = await faultsOf(files, env, catalog);
  // Faults in the shape of a file hide faults in its names.
  const rest = await faultsOf(withoutFaulty(files, found.faults), env, catalog);
  return {
    files,
    tables: payloads.size - skipped.length,
    views: 0,
    guesses: [],
    skipped,
    faults: sortFaults([...found.faults, ...rest.faults.map((fault) => inFile(fault, files))]),
    notices: rest.notices,
  };
}

type Files = ReadonlyMap<string, string>;

async function faultsOf(
  files: Files,
  env: TakeOptions["env"],
  catalog: Catalog,
): Promise<{ faults: Fault[]; notices: string[] }> {
  const { projects, faults } = readConfig(files, env);
  const compiled = await Promise.all(projects.map((one) => compileProject(one, catalog)));
  return {
    faults: [...faults, ...compiled.flatMap((one) => one.faults)],
    notices: compiled.flatMap((one) => one.notices),
  };
}

/** The files without their faulty properties. Leaves out files that are not JSON or have faulty actions. */
function withoutFaulty(files: Files, faults: readonly Fault[]): Map<string, string> {
  const kept = new Map(files);
  for (const [file, own] of Map.groupBy(faults, (fault) => fault.file)) {
    const names = own.map(({ path }) => /^[A-Za-z_$][\w$]*/.exec(path)?.[0]);
    const text = files.get(file);
    if (text === undefined || names.some((name) => name === "$" || name === "action")) {
      kept.delete(file);
      continue;
    }
    const value = readJsonText(text).value as Members;
    for (const name of names) if (name !== undefined) delete value[name];
    kept.set(file, JSON.stringify(value));
  }
  return kept;
}

/** The fault with its line in the file as it is. */
function inFile(fault: Fault, files: Files): Fault {
  const text = files.get(fault.file);
  const offset = text === undefined ? undefined : readJsonText(text).offsets.get(fault.path);
  if (text === undefined || offset === undefined) return fault;
  return { ...fault, line: text.slice(0, offset).split("\n").length };
}

/** Why a file cannot become an endpoint, as one of processors or a dashboard; null when it can, or is no JSON. */
function withoutTable(text: string): string | null {
  let value: unknown;
  try {
    ({ value } = readJsonText(text));
  } catch {
    return null;
  }
  if (!isObject(value) || Object.hasOwn(value, "tableName")) return null;
  const name = ["processor", "widgets"].find((one) => Object.hasOwn(value, one));
  return name === undefined ? null : `${name}: there is ${foreign.get(name)}`;
}

/** Letters of another kind become `_`, and `project.json` has its place. */
function freePath(project: string, name: string, files: Files): string {
  const plain = plainName(name.replace(/\.json$/i, ""));
  for (let count = 1; ; count++) {
    const path = `${project}/${plain}${count === 1 ? "" : `_${count}`}.json`;
    if (!files.has(path)) return path;
  }
}
