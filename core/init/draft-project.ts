/**
 * Looks at a database and writes the configuration of a project for it, as texts. What was drafted is compiled against the database
 * before anybody sees it: a part that has a fault there is left out, so that the result starts without an edit.
 */
import { compileProject } from "../config/compile-project.ts";
import type { Fault } from "../config/faults.ts";
import { readJsonText } from "../config/json-text.ts";
import { readConfig } from "../config/read-config.ts";
import { remembering } from "../config/survey.ts";
import type { Catalog } from "../plans/database-catalog.ts";
import type { Outline } from "../plans/database-catalog.ts";
import type { Table } from "../values/column.ts";
import { AppError } from "../values/errors.ts";
import { linesByHeader } from "./documents.ts";
import { ownTables } from "./drift.ts";
import { draftEndpoint, type Guess } from "./draft-endpoint.ts";
import type { Relation } from "./references.ts";
import { endpointNames, tableNameOf } from "./file-names.ts";
import { printJson } from "./print-json.ts";
import { withoutFaulty } from "./without-faulty.ts";

export interface InitOptions {
  readonly project: string;
  /** As it stands in project.json. */
  readonly url: string;
  /** What `url` means, for the trial. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Empty: the default one. */
  readonly schemas: readonly string[];
  /** Names, in which `*` stands for any characters; empty: all. */
  readonly tables: readonly string[];
  /** Called for each table that was read. */
  readonly onProgress?: (done: number, all: number) => void;
}

export interface ProjectDraft {
  /** By path below the configuration folder. */
  readonly files: ReadonlyMap<string, string>;
  readonly tables: number;
  readonly views: number;
  readonly guesses: readonly PlacedGuess[];
  /** Tables and views without an endpoint, and why. */
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
  /** What is to be changed before the project starts; absent: nothing. */
  readonly faults?: readonly Fault[];
  /** What is worth knowing of files that were taken along. */
  readonly notices?: readonly string[];
}

export interface PlacedGuess {
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  readonly path: string;
  readonly text: string;
}

/** Rejects as the catalog does, and with an Error when nothing matches `tables`. */
export async function draftProject(catalog: Catalog, options: InitOptions): Promise<ProjectDraft> {
  const asked = remembering(catalog);
  const listed = (await asked.outline(options.schemas)).filter(({ name }) => !ownTables.has(name));
  const outlines = listed.filter((one) => isWanted(one, options.tables));
  if (outlines.length === 0) throw new Error(nothingFound(listed, options));
  const { found, skipped } = await readTables(asked, outlines, options);
  const names = endpointNames(found.map(({ outline }) => outline));
  const lines = linesByHeader(found.map(({ table }) => table));
  const tables = new Map(found.map((one) => [one.table.identity, one]));
  const context = { tables, answersStoredRows: asked.answersStoredRows };
  const drafts = new Map(
    found.map((one) => [
      `${options.project}/${names.get(one.outline)!}.json`,
      {
        one,
        ...draftEndpoint({ ...one, lines: lines.get(one.table.identity) ?? [] }, context),
      },
    ]),
  );
  const payloads = new Map([...drafts].map(([file, { payload }]) => [file, payload]));
  const tried = await trial(asked, payloads, options);
  const files = new Map([
    [`${options.project}/project.json`, projectText(options.url)],
    ...[...tried.payloads].map(([file, payload]) => [file, printJson(payload)] as const),
  ]);
  const served = [...drafts].filter(([file]) => files.has(file));
  return {
    files,
    tables: served.filter(([, { one }]) => one.outline.kind === "table").length,
    views: served.filter(([, { one }]) => one.outline.kind === "view").length,
    guesses: served.flatMap(([file, { guesses }]) => placed(file, files.get(file)!, guesses)),
    skipped: [
      ...skipped,
      ...[...tried.dropped].map(([file, reason]) => ({
        name: tableNameOf(drafts.get(file)!.one.outline),
        reason,
      })),
    ],
  };
}

/** The smallest project.json. */
export const projectText = (url: string): string =>
  printJson({ $schema: "../project.schema.json", database: { url } });

/** `*` stands for any characters; a name with a schema is that of the whole. */
function isWanted(outline: Outline, patterns: readonly string[]): boolean {
  if (patterns.length === 0) return true;
  const names = [outline.name, tableNameOf(outline)];
  return patterns.some((pattern) => {
    const parts = pattern.split("*").map((part) => RegExp.escape(part));
    const whole = new RegExp(`^${parts.join(".*")}$`, "i");
    return names.some((name) => whole.test(name));
  });
}

function nothingFound(listed: readonly Outline[], { tables, schemas }: InitOptions): string {
  const place = schemas.length > 0 ? `the schema ${schemas.join(", ")}` : "the database";
  if (listed.length === 0) return `${place} has no table or view`;
  const known = listed.slice(0, 10).map(({ name }) => name);
  return `no table or view matches ${tables.join(", ")}; ${place} has ${known.join(", ")}${listed.length > 10 ? ", …" : ""}`;
}

/** How many tables are read at a time: each takes a connection. */
const atOnce = 4;

async function readTables(
  catalog: Catalog,
  outlines: readonly Outline[],
  { onProgress }: InitOptions,
): Promise<{ found: Relation[]; skipped: { name: string; reason: string }[] }> {
  const tables: (Table | null)[] = [];
  const refused = new Map<Outline, string>();
  let next = 0;
  let done = 0;
  const read = async (): Promise<void> => {
    for (let at = next++; at < outlines.length; at = next++) {
      const outline = outlines[at]!;
      tables[at] = await catalog.table(tableNameOf(outline)).catch((error: unknown) => {
        if (error instanceof AppError) throw error;
        refused.set(outline, `the database cannot read it (${(error as Error).message})`);
        return null;
      });
      onProgress?.(++done, outlines.length);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, read));
  const found: Relation[] = [];
  const skipped: { name: string; reason: string }[] = [];
  for (const [at, outline] of outlines.entries()) {
    const table = tables[at];
    if (table && table.columns.size > 0) found.push({ outline, table });
    else
      skipped.push({
        name: tableNameOf(outline),
        reason: refused.get(outline) ?? unreadable[outline.kind],
      });
  }
  return { found, skipped };
}

/** Why a table is left out of which the database says nothing. */
const unreadable: Readonly<Record<Outline["kind"], string>> = {
  table: "it has no columns, or a name that a configuration cannot hold",
  view: "it has no columns that the database can read, or a name that a configuration cannot hold",
};

type Payloads = ReadonlyMap<string, Record<string, unknown>>;

interface Tried {
  readonly payloads: Payloads;
  /** Files that cannot be served at all, and why. */
  readonly dropped: ReadonlyMap<string, string>;
}

/** Rounds of leaving out what has a fault: one part may be in the way of another. */
const roundsMax = 8;

async function trial(
  catalog: Catalog,
  drafted: Payloads,
  { project, url, env }: InitOptions,
): Promise<Tried> {
  let payloads = drafted;
  const dropped = new Map<string, string>();
  for (let round = 0; round < roundsMax; round++) {
    const faults = await faultsOf(catalog, payloads, { project, url, env });
    if (faults.length === 0) return { payloads, dropped };
    const next = new Map(payloads);
    for (const [file, own] of Map.groupBy(faults, (fault) => fault.file)) {
      const payload = next.get(file);
      const kept = payload && round < roundsMax - 1 ? withoutFaulty(payload, own) : null;
      if (kept) next.set(file, kept);
      else if (next.delete(file))
        dropped.set(file, `${own[0]!.found}, expected ${own[0]!.expected}`);
    }
    payloads = next;
  }
  return { payloads, dropped };
}

async function faultsOf(
  catalog: Catalog,
  payloads: Payloads,
  { project, url, env }: Pick<InitOptions, "project" | "url" | "env">,
): Promise<readonly Fault[]> {
  const files = new Map(
    [...payloads].map(([file, payload]) => [file, printJson(payload)] as const),
  );
  const { projects, faults } = readConfig(
    new Map([...files, [`${project}/project.json`, projectText(url)]]),
    env,
  );
  const compiled = await Promise.all(projects.map((one) => compileProject(one, catalog)));
  return [...faults, ...compiled.flatMap((one) => one.faults)];
}

/** The guesses that are still in the text, with their lines. */
function placed(file: string, text: string, guesses: readonly Guess[]): PlacedGuess[] {
  const { offsets } = readJsonText(text);
  return guesses.flatMap(({ path, text: about }) => {
    const offset = offsets.get(path);
    return offset === undefined
      ? []
      : [{ file, path, line: text.slice(0, offset).split("\n").length, text: about }];
  });
}
