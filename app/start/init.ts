/**
 * `rowgate init`: writes a configuration for a database that is there. Files that exist are kept, unless `--force` is given. What
 * was guessed is listed, with the line to change.
 */
import { parseArgs } from "node:util";
import { faultMessage, type Fault } from "../../core/config/faults.ts";
import { draftProject, type ProjectDraft } from "../../core/init/draft-project.ts";
import { takeRestforge } from "../../core/init/restforge-project.ts";
import type { Db } from "../../core/plans/ports.ts";
import { parseEnv } from "./env.ts";
import { type Address, databaseAddress, projectNameFault, projectNameOf } from "./init-address.ts";
import { openForInit, withPlainFault } from "./init-database.ts";
import { existingFiles, writeProject, type WrittenFiles } from "./init-files.ts";
import { readRestforgeFiles } from "./restforge-files.ts";

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
  /** Shows how far the reading is; absent: nothing is shown. */
  readonly progress?: ((done: number, all: number) => void) | undefined;
  /** The variable of the environment that has the address; absent: an address with a password gets a name for one. */
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

interface InitArguments {
  readonly database: string;
  readonly project: string;
  readonly tables: readonly string[];
  readonly schemas: readonly string[];
  /** Null: the tables of the database become files. */
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

export interface DraftOptions {
  readonly project: string;
  readonly address: Address;
  readonly tables: readonly string[];
  readonly schemas: readonly string[];
  /** Folder of a RESTForge project; null: the tables of the database become files. */
  readonly restforge: string | null;
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
  return [
    `${count(written.length, "file")} written to ${configDir}: ${count(tables, "table")}, ${count(views, "view")}`,
    ...list("Kept as they are, because they exist (--force writes over them):", kept),
    ...list(
      "Guessed; change the line where the guess is wrong:",
      guesses.map(({ file, line, text }) => `${file}:${line}  ${text}`),
    ),
    ...list(
      "Left out:",
      skipped.map(({ name, reason }) => `${name}: ${reason}`),
    ),
    ...list("Notes:", notices),
    ...list("To be changed, before the project starts:", faults.map(faultLine)),
    "",
  ].join("\n");
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
