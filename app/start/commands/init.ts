/**
 * `rowgate init`: writes a configuration for an existing database. Files that exist are kept, unless `--force` is
 * given. Prints each guess with the line to change.
 */
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { faultMessage, type Fault } from "../../../core/config/reading/faults.ts";
import type { GuessKind } from "../../../core/init/draft-endpoint.ts";
import {
  draftProject,
  type PlacedGuess,
  type ProjectDraft,
} from "../../../core/init/draft-project.ts";
import { type RestforgeFiles, takeRestforge } from "../../../core/init/restforge-project.ts";
import type { Db } from "../../../core/plans/db-port.ts";
import { limits } from "../../../core/values/limits.ts";
import { readConfigFiles, readText } from "../settings/config-files.ts";
import { parseEnv } from "../settings/env.ts";
import { type Address, databaseAddress, projectNameFault, projectNameOf } from "./init-address.ts";
import { openForInit, withPlainFault } from "./init-database.ts";
import { existingFiles, writeProject, type WrittenFiles } from "./init-files.ts";

export const initUsage = `Usage: rowgate init --database <URL> [options]

  --project <name>   folder of the project below CONFIG_DIR; default: the database's name
  --tables <names>   only these tables and views, with commas between; * stands for any characters
  --schema <name>    tables of this schema instead of the default one; may be given several times
  --from-restforge <folder>
                     take the files of a RESTForge project along, instead of the database's tables
  --force            write over files that exist
  --dry-run          show what would be written, and write nothing

On a terminal, rowgate init without arguments asks for all of this.
`;

export interface InitRun {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly out: (text: string) => void;
  /** Shows the progress of reading the tables; absent: nothing is shown. */
  readonly progress?: ((done: number, all: number) => void) | undefined;
  /** The environment variable that has the address; absent: an address with a password gets a name for one. */
  readonly variable?: string;
}

/** Rejects with an Error that says what is wrong with the arguments or the database. */
export async function runInit({ args, env, out, progress, variable }: InitRun): Promise<void> {
  const options = optionsOf(args);
  const { configDir } = parseEnv(env);
  const address: Address =
    variable === undefined
      ? databaseAddress(options.database, options.project)
      : { url: options.database, inFile: `\${${variable}}`, variable, isSet: true };
  const db = await openForInit(address.url);
  const draft = await draftOf(db, { ...options, address, progress }).finally(() => db.close());
  const existing = await existingFiles(configDir, draft.files.keys());
  if (options.dryRun) {
    const { differences } = await import("./differences.ts");
    out(differences(draft.files, existing));
    return;
  }
  const files = await writeProject(configDir, draft.files, { existing, isForced: options.force });
  out(`${summaryOf(draft, { configDir, ...files })}${nextSteps(address, draft)}`);
}

/**
 * `serve --init`, for containers: writes a configuration for the database of DATABASE_URL. Does nothing when CONFIG_DIR
 * has files. Rejects with an Error when DATABASE_URL is missing too, or when the database cannot be read.
 */
export async function initAtFirstStart({ env, out }: Pick<InitRun, "env" | "out">): Promise<void> {
  const { configDir, databaseUrl } = parseEnv(env);
  // A missing folder counts as empty.
  const files = await readConfigFiles(configDir).catch(() => new Map<string, string>());
  if (files.size > 0) return;
  if (databaseUrl === null)
    throw new Error(
      `CONFIG_DIR=${configDir} has no project. Set DATABASE_URL to the address of your database, or CONFIG_DIR to a folder with a project`,
    );
  await runInit({ args: ["--database", databaseUrl], env, out, variable: "DATABASE_URL" });
}

interface InitArguments {
  readonly database: string;
  readonly project: string;
  readonly tables: readonly string[];
  readonly schemas: readonly string[];
  /** Folder of a RESTForge project; null: the tables of the database become files. */
  readonly restforge: string | null;
  readonly force: boolean;
  readonly dryRun: boolean;
}

function optionsOf(args: readonly string[]): InitArguments {
  const values = valuesOf(args);
  const { database, project, tables = [], schema: schemas = [] } = values;
  if (database === undefined || database === "")
    throw new Error(`--database is missing\n${initUsage}`);
  const name = project ?? projectNameOf(database);
  const fault = projectNameFault(name);
  if (fault !== null) throw new Error(`--project ${fault}`);
  return {
    database,
    project: name,
    tables: tables
      .flatMap((one) => one.split(","))
      .map((one) => one.trim())
      .filter(Boolean),
    schemas,
    restforge: values["from-restforge"] ?? null,
    force: values.force ?? false,
    dryRun: values["dry-run"] ?? false,
  };
}

function valuesOf(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        database: { type: "string" },
        project: { type: "string" },
        tables: { type: "string", multiple: true },
        schema: { type: "string", multiple: true },
        "from-restforge": { type: "string" },
        force: { type: "boolean" },
        "dry-run": { type: "boolean" },
      },
    }).values;
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${initUsage}`, { cause: error });
  }
}

export interface DraftOptions extends Pick<
  InitArguments,
  "project" | "tables" | "schemas" | "restforge"
> {
  readonly address: Address;
  readonly progress: InitRun["progress"];
}

/** Rejects with an Error that says what is wrong with the database or the folder, or that nothing matches. */
export const draftOf = (
  db: Db,
  { project, address, tables, schemas, restforge, progress }: DraftOptions,
): Promise<ProjectDraft> =>
  withPlainFault(db, async () => {
    const about = {
      project,
      url: address.inFile,
      env: address.variable === null ? {} : { [address.variable]: address.url },
    };
    if (restforge !== null)
      return await takeRestforge(await readRestforgeFiles(restforge), db.catalog, about);
    return await draftProject(db.catalog, {
      ...about,
      schemas,
      tables,
      look: (table, columns, { isBrief } = { isBrief: false }) =>
        db.look(table, columns, isBrief ? limits.initTextsSeen : limits.initRowsSeen),
      ...(progress && { onProgress: progress }),
    });
  });

/** What was written, guessed and left out; ends with a line break. */
export function summaryOf(
  { tables, views, guesses, skipped, faults = [], notices = [] }: ProjectDraft,
  { configDir, written, kept }: WrittenFiles & { readonly configDir: string },
): string {
  const list = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ["", title, ...lines.map((line) => `  ${line}`)];
  const lines = (kind: GuessKind): string[] => {
    const own = guesses.filter((one) => one.kind === kind);
    const shown = own.slice(0, linesMax).map(({ file, line, text }) => `${file}:${line}  ${text}`);
    return own.length > linesMax
      ? [...shown, `and ${own.length - linesMax} more like these`]
      : shown;
  };
  return [
    `${count(written.length, "file")} written to ${configDir}: ${count(tables, "table")}, ${count(views, "view")}`,
    ...list("Kept as they are, because they exist (--force writes over them):", kept),
    ...list(
      "Doubtful; look at these first, and change the line where the guess is wrong:",
      lines("doubtful"),
    ),
    ...list("Guessed from names and types:", [
      ...lines("weighty"),
      ...Object.entries(countedKinds).flatMap(([kind, word]) =>
        counted(
          guesses.filter((one) => one.kind === kind),
          word,
        ),
      ),
    ]),
    ...list(
      "Left out:",
      skipped.map(({ name, reason }) => `${name}: ${reason}`),
    ),
    ...list("Notes:", notices),
    ...list("To be changed, before the project starts:", faults.map(faultLine)),
    "",
  ].join("\n");
}

/** What the summary says about guesses that have a good reason. */
const countedKinds = {
  labels: "label of drop-downs",
  imports: "column of names in imports",
  joins: "join by name for aggregate",
} satisfies Partial<Record<GuessKind, string>>;

/** Guesses of a kind that has its own line. */
const linesMax = 30;

/** Endpoints that are named in a line of the summary. */
const namedMax = 8;

/** `3 labels of drop-downs: customers (name), …`; no line for none. */
function counted(guesses: readonly PlacedGuess[], word: string): string[] {
  if (guesses.length === 0) return [];
  const [first = "", ...rest] = word.split(" ");
  const words = [guesses.length === 1 ? first : `${first}s`, ...rest].join(" ");
  const byFile = [...Map.groupBy(guesses, ({ file }) => file)].map(
    ([file, own]) => `${basename(file, ".json")} (${own.map(({ text }) => text).join(", ")})`,
  );
  const more = byFile.length - namedMax;
  const named = byFile.slice(0, namedMax).join(", ");
  return [
    `${guesses.length} ${words}: ${named}${more > 0 ? ` and in ${count(more, "other file")}` : ""}`,
  ];
}

/** `1 table`, `2 tables`. */
export const count = (number: number, word: string): string =>
  `${number} ${word}${number === 1 ? "" : "s"}`;

const faultLine = (fault: Fault): string =>
  `${fault.file}:${fault.line ?? 1}  ${fault.path}: ${faultMessage(fault)}`;

const nextSteps = ({ variable, url, isSet }: Address, { faults = [] }: ProjectDraft): string =>
  [
    ...(variable === null || isSet
      ? []
      : [
          "",
          "Put this line into the environment, or into a file for --env-file:",
          `${variable}=${url}`,
        ]),
    "",
    faults.length === 0
      ? "Next: rowgate serve, with the same CONFIG_DIR and environment"
      : "Next: rowgate check, until it finds no fault; then rowgate serve, with the same CONFIG_DIR and environment",
    "",
  ].join("\n");

/**
 * Reads `payload/*.json`, and the queries below `payload/query` or `query`. The folder may also be `payload` itself.
 * Rejects with an Error when there is no such file.
 */
async function readRestforgeFiles(folder: string): Promise<RestforgeFiles> {
  const inside = join(folder, "payload");
  const [own, outer] = [await namesIn(inside, false), await namesIn(folder, false)];
  const place = own.length > 0 ? inside : folder;
  const names = (own.length > 0 ? own : outer).filter((name) => name.endsWith(".json"));
  if (names.length === 0)
    throw new Error(
      `${folder} holds no payload/*.json; name the folder of the RESTForge project after --from-restforge`,
    );
  const queries = new Map<string, string>();
  for (const base of [join(folder, "query"), join(place, "query")])
    for (const name of await namesIn(base, true))
      if (name.endsWith(".sql"))
        queries.set(name.replaceAll("\\", "/"), readText(join(base, name)));
  return {
    payloads: new Map(names.toSorted().map((name) => [name, readText(join(place, name))])),
    queries,
  };
}

/** None where there is no such folder. */
async function namesIn(folder: string, recursive: boolean): Promise<string[]> {
  try {
    return await readdir(folder, { recursive });
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return [];
    throw new Error(`${folder} cannot be read`, { cause: error });
  }
}
