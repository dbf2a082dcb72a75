/**
 * The commands of the command line: `serve`, `worker`, `check`, `openapi`, `client`, `key`, `hooks` and others. Each
 * loads only what it needs; without the parts of the service, a worker takes 27 MB less memory.
 */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { storeCompiled } from "./compile-cache.ts";
import { exitWith, listenForStops, type StopWith } from "./stops.ts";
import { releaseUnusedMemory } from "./unused-memory.ts";
import {
  type ConfigFolder,
  type FolderSource,
  openConfigFolder,
} from "./reloading/config-folder.ts";
import { lowerPriorityOfProcess } from "../../jobs/thread/low-priority.ts";
import { listenForReloads } from "./reloading/reload-triggers.ts";
import type { Processes } from "./servers/processes.ts";
import type { Service } from "./servers/wire.ts";

const usage = `Usage: rowgate <command> [--env-file .env]; in a checkout: npm run rowgate -- <command>

  serve    serve the configured projects (CONFIG_DIR, PORT, HOST)
           [--processes 4] serves with several processes, or with as many as there are processors: auto
           [--init] first writes a configuration for DATABASE_URL if there is none, as containers do
  worker   run exports and imports (CONFIG_DIR, REDIS_URL or JOBS_DATABASE_URL, STORAGE_URL)
  check    check the configuration against the databases; exits with 1 when it finds a fault [--json]
           [--advise] names indexes that are missing
  sync     change the files where the databases have new columns, lengths or labels [--dry-run]
  init     write a configuration for a database: --database <URL> [--project shop] [--tables a,b*] [--dry-run]
           without arguments on a terminal, it asks for everything
  openapi  print the OpenAPI document of all projects, or of one: [--project shop] [--out openapi.json]
           [--format postman] makes a collection of requests of it, for Postman and Bruno
  client   write a typed client for one project: --out shop-client.ts [--project shop]
  key      create an API key: --id erp --roles clerk,auditor [--claims '{"tenant": "t1"}']
  hooks    list the non-blocking hook calls and the webhooks' deliveries that were given up [--json] [--project shop]
           or send them again: retry <id>|--all

--env-file reads variables from a file, for serve, worker, check, sync, openapi, client and hooks. The environment overrides the file.
serve and worker load the configuration again on SIGHUP; with --watch also whenever one of its files has changed.
`;

const commands: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  serve: withConfig(serveProjects, ["watch", "init"], ["processes"]),
  /** What each process of `serve --processes` is started with. */
  "serve-process": serveProcess,
  worker: withConfig(runJobs, ["watch"]),
  check: withConfig(check, ["json", "advise"]),
  sync: withConfig(sync, ["dry-run"]),
  init,
  openapi: showDocument,
  client: makeClient,
  key: makeKey,
  hooks: async (args) => {
    const { runHooks } = await import("./commands/hooks-command.ts");
    const { out, errors } = await runHooks(args, process.env);
    process.stderr.write(errors);
    process.stdout.write(out);
  },
};

/** Commands that go on without anybody who reads what they print. */
const services = new Set(["serve", "serve-process", "worker"]);

/** `head`, for example, ends before everything is printed. */
function leaveReader(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
  process.exit();
}

/** Runs a command. A failure ends the process with exit code 1. */
export async function runCommand(name = "", args: readonly string[] = []): Promise<void> {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!services.has(name)) process.stdout.on("error", leaveReader);
  // init has more options than the usage of all commands can show.
  const asksForHelp =
    name === "" || name === "help" || (name !== "init" && [name, ...args].some(isHelpFlag));
  if (command && !asksForHelp) return command(args).catch(exitWith);
  if (!asksForHelp) {
    const { didYouMean } = await import("../../core/config/reading/did-you-mean.ts");
    const hint = didYouMean(name, Object.keys(commands));
    process.stderr.write(`There is no command ${JSON.stringify(name)}${hint ? `; ${hint}` : ""}\n`);
    process.exitCode = 1;
  }
  process.stderr.write(usage);
}

const isHelpFlag = (arg: string): boolean => arg === "--help" || arg === "-h";

/** The parameters of a command that reads the configuration. */
interface Given {
  /** The flags among the arguments. */
  readonly flags: ReadonlySet<string>;
  /** The arguments with a value. */
  readonly values: Readonly<Record<string, string>>;
  /** Its environment includes the variables of `--env-file`. */
  readonly folder: ConfigFolder;
}

/** Applies the files of `--env-file`, then runs the command. Rejects with an Error for unknown arguments. */
function withConfig(
  command: (given: Given) => Promise<void>,
  known: readonly string[],
  valued: readonly string[] = [],
): (args: readonly string[]) => Promise<void> {
  return async (args) => {
    const { files, ...given } = readArgs(args, known, valued);
    return command({ ...given, folder: openConfigFolder(files) });
  };
}

/** `files`: those of `--env-file`. Throws an Error for other arguments. */
function readArgs(args: readonly string[], known: readonly string[], valued: readonly string[]) {
  try {
    const options = {
      "env-file": { type: "string", multiple: true },
      ...Object.fromEntries(known.map((flag) => [flag, { type: "boolean" }] as const)),
      ...Object.fromEntries(valued.map((name) => [name, { type: "string" }] as const)),
    } as const;
    const { "env-file": files = [], ...given } = parseArgs({ args: [...args], options }).values;
    const values = Object.entries(given).filter(([, value]) => typeof value === "string");
    return {
      files: files as readonly string[],
      flags: new Set(Object.keys(given)),
      values: Object.fromEntries(values) as Readonly<Record<string, string>>,
    };
  } catch (error) {
    throw new Error(`${(error as Error).message}\nrowgate help lists the options of each command`, {
      cause: error,
    });
  }
}

async function serveProjects({ folder, flags, values }: Given): Promise<void> {
  if (flags.has("init")) {
    const { initAtFirstStart } = await import("./commands/init.ts");
    await initAtFirstStart({ env: process.env, out: (text) => void process.stdout.write(text) });
  }
  const stopWith = listenForStops();
  const takeReloads = await listenForReloads(folder, { isWatched: flags.has("watch") });
  const { processes } = values;
  if (processes !== undefined) {
    const serving = await serveWithProcesses(await folder.read(), { processes, stopWith });
    return takeReloads(serving.reload);
  }
  const [{ openService }, { listen }] = await Promise.all([
    import("./servers/wire.ts"),
    "Bun" in globalThis ? import("./servers/bun.ts") : import("./servers/node.ts"),
  ]);
  const service = await openService(await folder.read());
  const { url, stop } = await listen(service);
  // Before the line below is printed, because its reader may stop the service at once.
  stopWith(stop);
  takeReloads(service.reload);
  process.stdout.write(`Rowgate listens on ${url}\n${example(service, url)}`);
  await service.ready;
  storeCompiled();
  releaseUnusedMemory();
}

async function serveWithProcesses(
  source: FolderSource,
  { processes, stopWith }: { readonly processes: string; readonly stopWith: StopWith },
): Promise<Processes> {
  const count = processCount(processes);
  const { openProcesses } = await import("./servers/processes.ts");
  const serving = await openProcesses({ source, count, args: ["serve-process"] });
  stopWith(serving.stop);
  serving.failed.catch(async (error: unknown) => {
    await serving.stop();
    await exitWith(error);
  });
  // The first one answers already, so that signals count from here on.
  if (!(await serving.all)) return serving;
  const { url, example: text } = serving.first;
  process.stdout.write(`Rowgate listens on ${url}\n${text}`);
  return serving;
}

/** Throws an Error for what is no number of processes, and where there can be one only. */
function processCount(text: string): number {
  const count = text === "auto" ? availableParallelism() : Number(text);
  if (!/^(?:auto|[1-9]\d{0,2})$/.test(text))
    throw new Error(`--processes is "${text}"; use a number from 1 to 999, or auto`);
  if ("Bun" in globalThis || "Deno" in globalThis)
    throw new Error(
      "--processes needs Node.js; on Bun and Deno, start several instances that share one Redis (REDIS_URL)",
    );
  return count;
}

async function serveProcess(): Promise<void> {
  const { serveUnderParent } = await import("./servers/under-parent.ts");
  await serveUnderParent({
    example,
    exit: (error) => void (error === undefined ? process.exit(0) : exitWith(error)),
    ready() {
      storeCompiled();
      releaseUnusedMemory();
    },
  });
}

async function runJobs({ folder, flags }: Given): Promise<void> {
  // Before any file is read, because the thread pool starts with the first read.
  lowerPriorityOfProcess();
  const stopWith = listenForStops();
  const { startWorker } = await import("./worker.ts");
  const takeReloads = await listenForReloads(folder, { isWatched: flags.has("watch") });
  const onStuck = () =>
    void exitWith(
      new Error(
        "Jobs are waiting but this worker receives none; it stops so that a new one can start",
      ),
    );
  const { stop, reload } = await startWorker({ ...(await folder.read()), onStuck });
  stopWith(stop);
  takeReloads(reload);
  process.stdout.write("Rowgate takes jobs\n");
  storeCompiled();
}

async function check({ folder, flags }: Given): Promise<void> {
  const [{ checkConfig }, { checkReport }] = await Promise.all([
    import("./commands/check-config.ts"),
    import("./commands/check-report.ts"),
  ]);
  const checked = await checkConfig({ ...(await folder.read()), advises: flags.has("advise") });
  const { isOk, out, errors } = checkReport(checked, folder.path, flags.has("json"));
  process.stderr.write(errors);
  process.stdout.write(out);
  if (!isOk) process.exitCode = 1;
}

async function sync({ flags }: Given): Promise<void> {
  const { runSync } = await import("./commands/sync.ts");
  const out = (text: string) => void process.stdout.write(text);
  await runSync({ isDryRun: flags.has("dry-run"), env: process.env, out });
}

async function init(args: readonly string[]): Promise<void> {
  const { stdin, stdout, stderr, env } = process;
  const run = { env, out: (text: string) => void stdout.write(text), progress: readingProgress() };
  if (args.length === 0 && stdin.isTTY && stdout.isTTY) {
    const { runInitDialog } = await import("./commands/init-dialog.ts");
    // The usual exit code of a program that is ended by Ctrl+C.
    if (!(await runInitDialog(run))) process.exitCode = 130;
    return;
  }
  const { initUsage, runInit } = await import("./commands/init.ts");
  if (args.some(isHelpFlag)) return void stderr.write(initUsage);
  await runInit({ args, ...run });
}

/** On a terminal, one line with a running count; elsewhere, a line for each hundred tables. */
function readingProgress(): (done: number, all: number) => void {
  const { stderr } = process;
  const text = (done: number, all: number) => `Reading tables: ${done} of ${all}`;
  if (stderr.isTTY)
    return (done, all) =>
      void stderr.write(done === all ? `\r${" ".repeat(40)}\r` : `\r${text(done, all)}`);
  return (done, all) => {
    if (done % 100 === 0) stderr.write(`${text(done, all)}\n`);
  };
}

async function showDocument(args: readonly string[]): Promise<void> {
  const { printOpenApi } = await import("./commands/print-openapi.ts");
  process.stdout.write(await printOpenApi(args, process.env));
}

async function makeClient(args: readonly string[]): Promise<void> {
  const { writeClient } = await import("./commands/print-openapi.ts");
  process.stdout.write(await writeClient(args, process.env));
}

async function makeKey(args: readonly string[]): Promise<void> {
  const { newApiKey } = await import("./commands/api-key.ts");
  process.stdout.write(newApiKey(args));
}

/** An example request that can be pasted: `read` of the first readable endpoint of a served project. */
function example({ projects, isUp }: Service, url: string): string {
  for (const project of projects) {
    if (!isUp(project.name)) continue;
    const readable = project.endpoints.find(({ payload }) => payload.action["read"] === true);
    if (!readable) continue;
    const path = `${url}/api/${project.name}/${readable.name}/read`;
    return `Try: curl -s ${path} -H 'Content-Type: application/json' -d '{"page": 1, "per_page": 2}'\n`;
  }
  return "";
}
