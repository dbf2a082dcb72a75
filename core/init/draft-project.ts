/**
 * Reads a database and drafts the configuration of a project for it, as texts. The draft is first compiled against the
 * database, and parts with faults are left out, so that the result starts without an edit.
 */
import { compileProject } from "../config/compile-project.ts";
import type { Fault } from "../config/reading/faults.ts";
import { readJsonText } from "../config/reading/json-text.ts";
import { readConfig } from "../config/reading/read-config.ts";
import { remembering } from "../config/compiling/survey.ts";
import type { Catalog, Outline } from "../plans/database-catalog.ts";
import type { Table } from "../values/types/column.ts";
import { AppError } from "../values/errors.ts";
import { linesByHeader } from "./documents.ts";
import { ownTables } from "./drift.ts";
import { draftEndpoint, type Guess } from "./draft-endpoint.ts";
import { type DraftNumbers, draftNumbers, withNumbers } from "./draft-numbers.ts";
import { draftRelations } from "./draft-relations.ts";
import { emptyTexts } from "./empty-texts.ts";
import { type Label, findLabel, type LookAtRows } from "./label-column.ts";
import { singular, wordsOf } from "./name-words.ts";
import type { Relation } from "./references.ts";
import { endpointNames, tableNameOf } from "./file-names.ts";
import { withoutFaulty } from "./without-faulty.ts";

export interface InitOptions {
  readonly project: string;
  /** As in project.json. */
  readonly url: string;
  /** What `url` means, for the trial. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Empty: the default one. */
  readonly schemas: readonly string[];
  /** Names, in which `*` matches any characters; empty: all. */
  readonly tables: readonly string[];
  readonly look: LookAtRows;
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
  /** Faults to correct before the project starts; absent: none. */
  readonly faults?: readonly Fault[];
  /** What is worth knowing of files that were taken along. */
  readonly notices?: readonly string[];
}

export interface PlacedGuess extends Guess {
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
}

/** Rejects as the catalog does, and with an Error when nothing matches `tables`. */
export async function draftProject(catalog: Catalog, options: InitOptions): Promise<ProjectDraft> {
  const asked = remembering(catalog);
  if (options.schemas.length > 0) await mustHaveSchemas(asked, options.schemas);
  const listed = (await asked.outline(options.schemas)).filter(({ name }) => !ownTables.has(name));
  const outlines = listed.filter((one) => isWanted(one, options.tables));
  if (outlines.length === 0) throw new Error(nothingFound(listed, options));
  const { found, skipped } = await readTables(asked, outlines, options);
  const names = endpointNames(found.map(({ outline }) => outline));
  const lines = linesByHeader(found.map(({ table }) => table));
  const tables = new Map(found.map((one) => [one.table.identity, one]));
  const relations = relationsByOutline(found, names);
  const context = { tables, answersStoredRows: asked.answersStoredRows };
  const drafts = new Map(
    found.map((one) => [
      `${options.project}/${names.get(one.outline)!}.json`,
      {
        one,
        ...draftEndpoint(
          {
            ...one,
            lines: lines.get(one.table.identity) ?? [],
            relations: relations.get(one.outline),
          },
          context,
        ),
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

/** The value of `relations` of each endpoint that has some. */
function relationsByOutline(
  found: readonly Relation[],
  names: ReadonlyMap<Outline, string>,
): ReadonlyMap<Outline, object> {
  const endpoints = found.map(({ outline, table }) => ({
    outline,
    name: names.get(outline)!,
    table,
    key: table.primaryKey,
  }));
  const drafted = draftRelations(endpoints);
  return new Map(
    endpoints.flatMap((endpoint): [Outline, object][] => {
      const own = drafted.get(endpoint)!;
      if (own.length === 0) return [];
      const members = own.map(({ name, setting }) => [name, setting]);
      return [[endpoint.outline, Object.fromEntries(members)]];
    }),
  );
}

/** The smallest project.json. */
export const projectText = (url: string): string =>
  printJson({ $schema: "../project.schema.json", database: { url } });

/** `*` matches any characters; a pattern with a schema matches the whole name. */
function isWanted(outline: Outline, patterns: readonly string[]): boolean {
  if (patterns.length === 0) return true;
  const names = [outline.name, tableNameOf(outline)];
  return patterns.some((pattern) => {
    const parts = pattern.split("*").map((part) => RegExp.escape(part));
    const whole = new RegExp(`^${parts.join(".*")}$`, "i");
    return names.some((name) => whole.test(name));
  });
}

/** The names differ at most in case, which is not told apart everywhere. */
async function mustHaveSchemas(catalog: Catalog, schemas: readonly string[]): Promise<void> {
  const known = await catalog.schemas();
  if (known.length === 0)
    throw new Error("the database has no schemas to choose from; leave out --schema");
  const lower = known.map((name) => name.toLowerCase());
  const missing = schemas.find((name) => !lower.includes(name.toLowerCase()));
  if (missing !== undefined)
    throw new Error(`the schema ${missing} has no table or view; there are ${known.join(", ")}`);
}

function nothingFound(listed: readonly Outline[], { tables, schemas }: InitOptions): string {
  const place = schemas.length > 0 ? `the schema ${schemas.join(", ")}` : "the database";
  if (listed.length === 0) return `${place} has no table or view`;
  const known = listed.slice(0, 10).map(({ name }) => name);
  return `no table or view matches ${tables.join(", ")}; ${place} has ${known.join(", ")}${listed.length > 10 ? ", …" : ""}`;
}

/** How many tables are read concurrently: each uses a connection. */
const atOnce = 4;

async function readTables(
  catalog: Catalog,
  outlines: readonly Outline[],
  { onProgress, look }: InitOptions,
): Promise<{ found: Relation[]; skipped: { name: string; reason: string }[] }> {
  const tables: (Table | null)[] = [];
  const labels: (Label | null)[] = [];
  const numbers: DraftNumbers[] = [];
  const empty: ReadonlySet<string>[] = [];
  const things = new Set(outlines.map(({ name }) => singular(wordsOf(name).at(-1) ?? "")));
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
      const table = tables[at];
      const isView = outline.kind === "view";
      labels[at] = table ? await findLabel(table, { isView, things, look }) : null;
      if (table) numbers[at] = await draftNumbers(table, look);
      if (table && !isView) empty[at] = await emptyTexts(table, look);
      onProgress?.(++done, outlines.length);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, read));
  const found: Relation[] = [];
  const skipped: { name: string; reason: string }[] = [];
  for (const [at, outline] of outlines.entries()) {
    const table = tables[at];
    if (table && table.columns.size > 0) {
      const own = numbers[at]!;
      const label = labels[at] ?? null;
      found.push({
        outline,
        table: withNumbers(table, own),
        label,
        numbers: own,
        emptyTexts: empty[at] ?? new Set(),
      });
    } else
      skipped.push({
        name: tableNameOf(outline),
        reason: refused.get(outline) ?? unreadable[outline.kind],
      });
  }
  return { found, skipped };
}

/** Why a table is left out if the database gives no reason. */
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

/** Rounds of leaving out parts with faults: one part can depend on another. */
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
  return guesses.flatMap((guess) => {
    const offset = offsets.get(guess.path);
    if (offset === undefined) return [];
    return [{ ...guess, file, line: text.slice(0, offset).split("\n").length }];
  });
}

const widthMax = 100;

/**
 * JSON in a readable layout: what fits on a line stays on one line, except that each member of the outermost object
 * begins a line. Ends with a line break.
 */
const printJson = (value: object): string => `${printed(value, "", false)}\n`;

function printed(value: unknown, indent: string, mayBeInline = true): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inline = oneLine(value);
  if (mayBeInline && indent.length + inline.length <= widthMax) return inline;
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const lines = Object.entries(value).map(([name, member]) => {
    const start = isList ? inner : `${inner}${JSON.stringify(name)}: `;
    // Switches are easier to find one below the other.
    const text = printed(member, inner, name !== "action" || isList);
    const isTooLong = !text.includes("\n") && start.length + text.length >= widthMax;
    return start + (isTooLong ? printed(member, inner, false) : text);
  });
  if (lines.length === 0) return isList ? "[]" : "{}";
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  return `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}

/** JSON on one line, with spaces. */
export function oneLine(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(oneLine).join(", ")}]`;
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}: ${oneLine(member)}`,
  );
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}
