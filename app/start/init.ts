/**
 * `rowgate init`: writes a configuration for a database that is there. Files that exist are kept, unless `--force` is given. What
 * was guessed is listed, with the line to change.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { faultMessage, type Fault } from "../../core/config/faults.ts";
import { jsonSchemas } from "../../core/config/json-schemas.ts";
import { draftProject, type ProjectDraft } from "../../core/init/draft-project.ts";
import { takeRestforge } from "../../core/init/restforge-project.ts";
import { plainName } from "../../core/init/file-names.ts";
import { AppError } from "../../core/values/errors.ts";
import { openDb } from "../../db/open.ts";
import { parseEnv } from "./env.ts";
import { createLog } from "./log.ts";
import { readText } from "./config-files.ts";
import { readRestforgeFiles } from "./restforge-files.ts";

export const initUsage = `Usage: rowgate init --database <URL> [options]

  --project <name>   folder of the project below CONFIG_DIR; default: the database's name
  --tables <names>   only these tables and views, with commas between; * stands for any characters
  --schema <name>    tables of this schema instead of the default one; may be given several times
  --from-restforge <folder>
                     take the files of a RESTForge project along, instead of the database's tables
  --force            write over files that exist
  --dry-run          show what would be written, and write nothing
`;

export interface InitRun {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly out: (text: string) => void;
  /** Shows how far the reading is; absent: nothing is shown. */
  readonly progress?: (done: number, all: number) => void;
  /** The variable of the environment that has the address; absent: an address with a password gets a name for one. */
  readonly variable?: string;
}

/** Rejects with an Error that says what is wrong with the arguments or the database. */
export async function runInit({ args, env, out, progress, variable }: InitRun): Promise<void> {
  const options = optionsOf(args);
  const { configDir } = parseEnv(env);
  const address: Address =
    variable === undefined
      ? addressOf(options.database, options.project)
      : { url: options.database, inFile: `\${${variable}}`, variable, isSet: true };
  const draft = await look(options, { address, progress });
  const existing = await existingOf(configDir, draft.files);
  if (options.dryRun) {
    const { differences } = await import("./differences.ts");
    out(differences(draft.files, existing));
    return;
  }
  for (const [name, text] of jsonSchemas()) await writeUnlessThere(join(configDir, name), text);
  const written: string[] = [];
  const kept: string[] = [];
  for (const [path, text] of draft.files) {
    if (existing.has(path) && !options.force) {
      if (existing.get(path) !== text) kept.push(path);
      continue;
    }
    await mkdir(dirname(join(configDir, path)), { recursive: true });
    await writeFile(join(configDir, path), text);
    written.push(path);
  }
  out(summaryOf(draft, { configDir, written, kept, address }));
}

/** For editors. */
async function writeUnlessThere(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text, { flag: "wx" }).catch((error: unknown) => {
    if ((error as { code?: string }).code !== "EEXIST") throw error;
  });
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
  const name = project ?? nameOf(database);
  if (!/^[A-Za-z0-9_-]+$/.test(name))
    throw new Error(
      `--project must consist of letters, digits, - and _, because it becomes part of the URL`,
    );
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

/** The last part of the address: `postgres://…/shop?sslmode=require` -> `shop`, `sqlite:./data/shop.db` -> `shop`. */
function nameOf(url: string): string {
  const [path = ""] = url.replace(/^[a-z]+:(?:\/\/[^/]*\/?)?/i, "").split(/[?#]/);
  const last = path.split(/[/\\]/).at(-1) ?? "";
  const plain = plainName(decodeURIComponent(last.replace(/\.(?:db|sqlite3?|db3)$/i, "")));
  return last === "" || plain === "table" ? "main" : plain;
}

/** How project.json names the database, and what the environment must say. */
interface Address {
  readonly url: string;
  readonly inFile: string;
  /** Null: the file holds the whole address. */
  readonly variable: string | null;
  /** True: the environment says it already. */
  readonly isSet?: boolean;
}

/** A password stays out of the files. */
function addressOf(url: string, project: string): Address {
  const hasPassword =
    /^[a-z]+:\/\/[^/@]*:[^/@]+@/i.test(url) || /[?&](?:password|sslpassword)=/i.test(url);
  if (!hasPassword) return { url, inFile: url, variable: null };
  const name = project
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, "_")
    .replace(/^(?=\d)/, "_");
  const variable = `${name}_DATABASE_URL`;
  return { url, inFile: `\${${variable}}`, variable };
}

async function look(
  { project, tables, schemas, restforge }: InitArguments,
  { address, progress }: { address: Address; progress: InitRun["progress"] },
): Promise<ProjectDraft> {
  const db = await openDb(address.url, {
    connectionsMax: 4,
    statementTimeoutMs: 30_000,
    decimals: "number",
    log: createLog("silent"),
    readFile: readText,
    isOnlyLookedAt: true,
  });
  try {
    await db.catalog.names();
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
  } catch (error) {
    if (!(error instanceof AppError && error.kind === "unavailable")) throw error;
    const { reason, remedy } = db.faultOf(error.cause ?? error);
    throw new Error(`${reason}; ${remedy}`, { cause: error });
  } finally {
    await db.close();
  }
}

async function existingOf(
  folder: string,
  files: ProjectDraft["files"],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const path of files.keys()) {
    const text = await readFile(join(folder, path), "utf8").catch(() => null);
    if (text !== null) found.set(path, text);
  }
  return found;
}

interface Outcome {
  readonly configDir: string;
  readonly written: readonly string[];
  readonly kept: readonly string[];
  readonly address: Address;
}

function summaryOf(draft: ProjectDraft, { configDir, written, kept, address }: Outcome): string {
  const { tables, views, guesses, skipped, faults = [], notices = [] } = draft;
  const count = (number: number, word: string): string =>
    `${number} ${word}${number === 1 ? "" : "s"}`;
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
    ...(address.variable === null || address.isSet
      ? []
      : [
          "",
          "Put this line into the environment, or into a file for --env-file:",
          `${address.variable}=${address.url}`,
        ]),
    "",
    faults.length === 0
      ? "Next: rowgate serve, with the same CONFIG_DIR and environment"
      : "Next: rowgate check, until it finds no fault; then rowgate serve, with the same CONFIG_DIR and environment",
    "",
  ].join("\n");
}

const faultLine = (fault: Fault): string =>
  `${fault.file}:${fault.line ?? 1}  ${fault.path}: ${faultMessage(fault)}`;
