/**
 * `rowgate init` without arguments on a terminal: asks for what the arguments would name. Only this file loads the
 * library of the prompts. Passwords are hidden, both while they are typed and in what is printed afterwards.
 */
import { appendFile, readFile } from "node:fs/promises";
import { parseEnv as parseEnvFile } from "node:util";
import * as prompts from "@clack/prompts";
import { tableNameOf } from "../../../core/init/file-names.ts";
import type { Db } from "../../../core/plans/db-port.ts";
import { parseEnv } from "../settings/env.ts";
import { type Address, databaseAddress, projectNameFault, projectNameOf } from "./init-address.ts";
import { openForInit, withPlainFault } from "./init-database.ts";
import { answered, askAddress, Cancelled, type Known } from "./init-dialog-address.ts";
import { existingFiles, writeProject } from "./init-files.ts";
import { count, draftOf, type InitRun, summaryOf } from "./init.ts";

/** Resolves to false, without writing, when the user ended the dialog. Rejects with an Error for system failures. */
export async function runInitDialog({
  env,
  out,
  progress,
}: Omit<InitRun, "args">): Promise<boolean> {
  prompts.intro("Rowgate: a configuration for your database");
  let db: Db | null = null;
  try {
    const reached = await askDatabase();
    db = reached.db;
    await writeFor(reached, { env, out, progress });
    return true;
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error;
    prompts.cancel("Nothing was written");
    return false;
  } finally {
    await db?.close();
  }
}

interface Reached {
  readonly db: Db;
  readonly url: string;
}

/** Asks until a database answers. */
async function askDatabase(): Promise<Reached> {
  let known: Known = {};
  for (;;) {
    const { url, next } = await askAddress(known);
    known = next;
    prompts.log.step("Connecting");
    try {
      return { db: await openForInit(url), url };
    } catch (error) {
      prompts.log.error(`No connection: ${(error as Error).message}`);
    }
  }
}

async function writeFor(
  { db, url }: Reached,
  { env, out, progress }: Pick<InitRun, "env" | "out" | "progress">,
): Promise<void> {
  const { configDir } = parseEnv(env);
  const project = await askProject(url);
  const schemas = await askSchemas(db);
  const tables = await askTables(db, schemas);
  const address = databaseAddress(url, project);
  const draft = await draftOf(db, { project, address, tables, schemas, restforge: null, progress });
  const existing = await existingFiles(configDir, draft.files.keys());
  const fresh = [...draft.files.keys()].filter((path) => !existing.has(path));
  prompts.note(preview(fresh, existing.size), `Files in ${configDir}`);
  await confirmed(`Write ${count(fresh.length, "file")}?`);
  const isKept = address.variable !== null && (await askEnvFile(address));
  const files = await writeProject(configDir, draft.files, { existing, isForced: false });
  if (isKept) await keepInEnvFile(address);
  prompts.outro("Done");
  out(`${summaryOf(draft, { configDir, ...files })}\n${nextStep(address, isKept)}\n`);
}

const askProject = (url: string): Promise<string> => {
  const initialValue = projectNameOf(url);
  return answered(
    prompts.text({
      message: "Name of the project; it becomes part of the URLs",
      initialValue,
      validate: (name) => {
        const fault = projectNameFault(name ?? "");
        return fault === null ? undefined : `The name ${fault}`;
      },
    }),
  );
};

/** Empty: the default schema. */
async function askSchemas(db: Db): Promise<readonly string[]> {
  const schemas = await withPlainFault(db, () => db.catalog.schemas());
  if (schemas.length < 2) return schemas;
  return answered(
    prompts.multiselect({
      message: "Schemas",
      options: schemas.map((value) => ({ value, label: value })),
      initialValues: schemas.slice(0, 1),
      required: true,
      maxItems: rowsMax,
    }),
  );
}

/** Lines of a list on the screen at a time. */
const rowsMax = 12;

async function askTables(db: Db, schemas: readonly string[]): Promise<readonly string[]> {
  const outlines = await withPlainFault(db, () => db.catalog.outline(schemas));
  if (outlines.length === 0) throw new Error("The database has no table or view");
  const names = outlines.map(tableNameOf);
  const chosen = await answered(
    prompts.autocompleteMultiselect({
      message: "Tables and views; type to search, Tab selects",
      options: outlines.map((one) => ({
        value: tableNameOf(one),
        label: tableNameOf(one),
        ...(one.kind === "view" && { hint: "view" }),
      })),
      initialValues: names,
      required: true,
      maxItems: rowsMax,
    }),
  );
  return chosen.length === names.length ? [] : chosen;
}

function preview(fresh: readonly string[], existing: number): string {
  const shown = fresh.slice(0, rowsMax);
  const more = fresh.length - shown.length;
  return [
    ...shown,
    ...(more > 0 ? [`and ${more} more`] : []),
    ...(existing > 0 ? [`${count(existing, "file")} that exist already will be kept`] : []),
  ].join("\n");
}

/** Rejects with Cancelled for a no. */
async function confirmed(message: string): Promise<void> {
  if (!(await answered(prompts.confirm({ message })))) throw new Cancelled();
}

const askEnvFile = ({ variable }: Address): Promise<boolean> =>
  answered(
    prompts.confirm({
      message: `Keep the address with its password as ${variable} in ${envPath}? That file must not be committed`,
    }),
  );

function nextStep({ variable }: Address, isKept: boolean): string {
  if (variable === null) return "Next: rowgate serve, with the same CONFIG_DIR";
  if (isKept) return `Next: rowgate serve --env-file ${envPath}, with the same CONFIG_DIR`;
  return `Next: set ${variable} to the address of the database, and start rowgate serve with the same CONFIG_DIR`;
}

/** In the working folder. */
const envPath = ".env";

/** Appends a line, which overrides earlier ones for the variable. Only the owner can read a new file. */
async function keepInEnvFile({ variable, url }: Address): Promise<void> {
  const before = await readFile(envPath, "utf8").catch(() => "");
  if (variable === null || parseEnvFile(before)[variable] === url) return;
  const start = before === "" || before.endsWith("\n") ? "" : "\n";
  // Between single quotes no character is special. A quote in the URL is percent-encoded.
  const line = `${variable}='${url.replaceAll("'", "%27")}'\n`;
  await appendFile(envPath, `${start}${line}`, { mode: 0o600 });
}
